// Modelica.Blocks.Tables and Modelica.Blocks.Sources.CombiTimeTable: the functions of C behind them, as functions
// of what the external object was made of. Smoothness: 1 linear, 2 Akima, 3 constant, 4 Fritsch-Butland, 5 Steffen,
// 6 modified Akima. Extrapolation: 1 hold, 2 last two points, 3 periodic, 4 none.

record 'tables.Table1D'
  String 'tableName';
  String 'fileName';
  Real 'table'[:, :];
  Integer 'columns'[:];
  Integer 'smoothness';
  Integer 'extrapolation';
  Boolean 'verboseRead';
  String 'delimiter';
  Integer 'nHeaderLines';
end 'tables.Table1D';

record 'tables.TimeTable'
  String 'tableName';
  String 'fileName';
  Real 'table'[:, :];
  Real 'startTime';
  Integer 'columns'[:];
  Integer 'smoothness';
  Integer 'extrapolation';
  Real 'shiftTime';
  Integer 'timeEvents';
  Boolean 'verboseRead';
  String 'delimiter';
  Integer 'nHeaderLines';
end 'tables.TimeTable';

record 'tables.Table2D'
  String 'tableName';
  String 'fileName';
  Real 'table'[:, :];
  Integer 'smoothness';
  Integer 'extrapolation';
  Boolean 'verboseRead';
  String 'delimiter';
  Integer 'nHeaderLines';
end 'tables.Table2D';

// Slope at a point between chords m2 and m3, by the chords m1, m2, m3, m4 around it [Aki70]; `modified` adds half of
// the sums to the weights, so that flat pieces stay flat.
function 'tables.akima'
  input Real m1;
  input Real m2;
  input Real m3;
  input Real m4;
  input Boolean modified;
  output Real slope;
protected
  Real left = abs(m2 - m1) + (if modified then abs(m2 + m1)/2 else 0);
  Real right = abs(m4 - m3) + (if modified then abs(m4 + m3)/2 else 0);
algorithm
  slope := if left + right > 0 then (right*m2 + left*m3)/(left + right)
           else if modified then 0 else (m2 + m3)/2;
end 'tables.akima';

// Slope between chords m1 over h1 and m2 over h2 that keeps the data's direction: [FB84], or [Ste90].
function 'tables.monotone'
  input Real m1;
  input Real m2;
  input Real h1;
  input Real h2;
  input Boolean steffen;
  output Real slope;
protected
  Real mean = (m1*h2 + m2*h1)/(h1 + h2);
  Real least = min(abs(m1), abs(m2));
algorithm
  slope := if m1*m2 <= 0 then 0
           else if not steffen then 3*(h1 + h2)/((h1 + 2*h2)/m1 + (h2 + 2*h1)/m2)
           else if abs(mean) > 2*least then (if m1 > 0 then 2*least else -2*least)
           else mean;
end 'tables.monotone';

// Slopes of the cubic Hermite interpolant at all points.
function 'tables.slopes'
  input Real x[:];
  input Real y[size(x, 1)];
  input Integer smoothness;
  output Real s[size(x, 1)];
protected
  Integer n = size(x, 1);
  Real m[n + 3];
algorithm
  for i in 1:n - 1 loop
    m[i + 2] := (y[i + 1] - y[i])/(x[i + 1] - x[i]);
  end for;
  if smoothness == 4 or smoothness == 5 then
    s[1] := m[3];
    s[n] := m[n + 1];
    for i in 2:n - 1 loop
      s[i] := 'tables.monotone'(m[i + 1], m[i + 2], x[i] - x[i - 1], x[i + 1] - x[i], smoothness == 5);
    end for;
  else
    m[2] := if n > 2 then 2*m[3] - m[4] else m[3];
    m[1] := 2*m[2] - m[3];
    m[n + 2] := if n > 2 then 2*m[n + 1] - m[n] else m[n + 1];
    m[n + 3] := 2*m[n + 2] - m[n + 1];
    for i in 1:n loop
      s[i] := 'tables.akima'(m[i], m[i + 1], m[i + 2], m[i + 3], smoothness == 6);
    end for;
  end if;
end 'tables.slopes';

// The interpolant between two points with slopes s0 and s1.
function 'tables.segment'
  input Real u;
  input Real x0;
  input Real x1;
  input Real y0;
  input Real y1;
  input Real s0;
  input Real s1;
  input Integer smoothness;
  output Real y;
protected
  Real h = x1 - x0;
  Real m = (y1 - y0)/h;
  Real v = u - x0;
algorithm
  if smoothness == 1 then
    y := y0 + m*v;
  elseif smoothness == 3 then
    y := y0;
  else
    y := y0 + v*(s0 + v*((3*m - 2*s0 - s1)/h + v*(s0 + s1 - 2*m)/h^2));
  end if;
end 'tables.segment';

// The value at u of points that the interpolant leaves out: before the first or behind the last one.
function 'tables.outside'
  input Real u;
  input Real x0;
  input Real y0;
  input Real chord;
  input Real slope;
  input Integer smoothness;
  input Integer extrapolation;
  output Real y;
algorithm
  if extrapolation == 2 then
    y := y0 + (if smoothness == 1 or smoothness == 3 then chord else slope)*(u - x0);
  else
    y := y0;
  end if;
end 'tables.outside';

function 'tables.value'
  input Real x[:];
  input Real y[size(x, 1)];
  input Real u_given;
  input Integer smoothness;
  input Integer extrapolation;
  output Real value;
protected
  Integer n = size(x, 1);
  Real s[n];
  Real u;
algorithm
  if n == 1 then
    value := y[1];
    return;
  end if;
  s := if smoothness == 1 or smoothness == 3 then zeros(n) else 'tables.slopes'(x, y, smoothness);
  u := if extrapolation == 3 then u_given - floor((u_given - x[1])/(x[n] - x[1]))*(x[n] - x[1]) else u_given;
  assert(extrapolation <> 4 or (u >= x[1] and u <= x[n]),
    "a table is asked for its value at " + String(u) + ", but goes from " + String(x[1]) + " to " + String(x[n]) +
    " and has no extrapolation");
  value := 'tables.segment'(u, x[1], x[2], y[1], y[2], s[1], s[2], smoothness);
  for i in 2:n - 1 loop
    if u >= x[i] then
      value := 'tables.segment'(u, x[i], x[i + 1], y[i], y[i + 1], s[i], s[i + 1], smoothness);
    end if;
  end for;
  if extrapolation <> 3 then
    if u < x[1] then
      value := 'tables.outside'(u, x[1], y[1], (y[2] - y[1])/(x[2] - x[1]), s[1], smoothness, extrapolation);
    elseif u >= x[n] then
      value := 'tables.outside'(u, x[n], y[n], (y[n] - y[n - 1])/(x[n] - x[n - 1]), s[n], smoothness,
        extrapolation);
    end if;
  end if;
end 'tables.value';

function 'external.ModelicaStandardTables_CombiTable1D_getValue'
  input 'tables.Table1D' tableID;
  input Integer icol;
  input Real u;
  output Real y;
algorithm
  y := 'tables.value'(tableID.table[:, 1], tableID.table[:, tableID.columns[icol]], u, Integer(tableID.smoothness),
    Integer(tableID.extrapolation));
end 'external.ModelicaStandardTables_CombiTable1D_getValue';

function 'external.ModelicaStandardTables_CombiTable1D_minimumAbscissa'
  input 'tables.Table1D' tableID;
  output Real u;
algorithm
  u := tableID.table[1, 1];
end 'external.ModelicaStandardTables_CombiTable1D_minimumAbscissa';

function 'external.ModelicaStandardTables_CombiTable1D_maximumAbscissa'
  input 'tables.Table1D' tableID;
  output Real u;
algorithm
  u := tableID.table[end, 1];
end 'external.ModelicaStandardTables_CombiTable1D_maximumAbscissa';

// Before startTime the table is 0.
function 'external.ModelicaStandardTables_CombiTimeTable_getValue'
  input 'tables.TimeTable' tableID;
  input Integer icol;
  input Real timeIn;
  input Real nextTimeEvent;
  input Real pre_nextTimeEvent;
  output Real y;
algorithm
  y := if timeIn < tableID.startTime then 0
       else 'tables.value'(tableID.table[:, 1], tableID.table[:, tableID.columns[icol]], timeIn - tableID.shiftTime,
         Integer(tableID.smoothness), Integer(tableID.extrapolation));
end 'external.ModelicaStandardTables_CombiTimeTable_getValue';

function 'external.ModelicaStandardTables_CombiTimeTable_minimumTime'
  input 'tables.TimeTable' tableID;
  output Real t;
algorithm
  t := tableID.table[1, 1];
end 'external.ModelicaStandardTables_CombiTimeTable_minimumTime';

function 'external.ModelicaStandardTables_CombiTimeTable_maximumTime'
  input 'tables.TimeTable' tableID;
  output Real t;
algorithm
  t := tableID.table[end, 1];
end 'external.ModelicaStandardTables_CombiTimeTable_maximumTime';

// The first time after t where an event is due: startTime; then points of the table, all of them (timeEvents 1), those
// where it jumps (2), or its ends alone (3); again in every period where it is periodic.
function 'external.ModelicaStandardTables_CombiTimeTable_nextTimeEvent'
  input 'tables.TimeTable' tableID;
  input Real timeIn;
  output Real next;
protected
  Integer n = size(tableID.table, 1);
  Real period = tableID.table[n, 1] - tableID.table[1, 1];
  Boolean periodic = Integer(tableID.extrapolation) == 3 and n > 1;
  Integer kind = Integer(tableID.timeEvents);
  Real passed;
  Real at;
algorithm
  passed := if periodic then floor((timeIn - tableID.shiftTime - tableID.table[1, 1])/period)*period else 0;
  next := if periodic then tableID.shiftTime + passed + period + tableID.table[1, 1] else 1e300;
  for i in n:-1:1 loop
    if i == 1 or i == n or kind == 1 or (kind == 2 and tableID.table[i, 1] == tableID.table[max(i - 1, 1), 1]) then
      at := tableID.table[i, 1] + tableID.shiftTime + passed;
      next := if at > timeIn then at else next;
    end if;
  end for;
  next := if timeIn < tableID.startTime then tableID.startTime else next;
end 'external.ModelicaStandardTables_CombiTimeTable_nextTimeEvent';

function 'external.ModelicaStandardTables_CombiTable1D_close'
  input 'tables.Table1D' tableID;
algorithm
end 'external.ModelicaStandardTables_CombiTable1D_close';
