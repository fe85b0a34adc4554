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

// Whether two abscissae are one: the table jumps there.
function 'tables.same'
  input Real a;
  input Real b;
  output Boolean is_same;
algorithm
  is_same := abs(a - b) < 1e-10*max(max(abs(a), abs(b)), 1e-10);
end 'tables.same';

// The first row whose abscissa is not above the one before it, with jumps not below it; 0 if there is none.
function 'tables.disorder'
  input Real x[:];
  input Boolean jumps;
  output Integer row;
algorithm
  row := 0;
  for i in size(x, 1):-1:2 loop
    if x[i] < x[i - 1] or (not jumps and x[i] == x[i - 1]) then
      row := i;
    end if;
  end for;
end 'tables.disorder';

// Weights of the chords m2 and m3 in the slope between them, by the chords m1, m2, m3, m4 around it [Aki70];
// `modified` adds half of the sums, so that flat pieces stay flat.
function 'tables.weights'
  input Real m1;
  input Real m2;
  input Real m3;
  input Real m4;
  input Boolean modified;
  output Real w[2];
protected
  Real left = abs(m2 - m1) + (if modified then abs(m2 + m1)/2 else 0);
  Real right = abs(m4 - m3) + (if modified then abs(m4 + m3)/2 else 0);
algorithm
  w[1] := if left + right > 0 then right/(left + right) else if modified then 0 else 0.5;
  w[2] := if left + right > 0 then left/(left + right) else if modified then 0 else 0.5;
end 'tables.weights';

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

// Chords between the points, with two more at both ends that go on linearly.
function 'tables.chords'
  input Real x[:];
  input Real y[size(x, 1)];
  output Real m[size(x, 1) + 3];
protected
  Integer n = size(x, 1);
algorithm
  for i in 1:n - 1 loop
    m[i + 2] := (y[i + 1] - y[i])/(x[i + 1] - x[i]);
  end for;
  m[2] := if n > 2 then 2*m[3] - m[min(4, n + 1)] else m[3];
  m[1] := 2*m[2] - m[3];
  m[n + 2] := if n > 2 then 2*m[n + 1] - m[n] else m[n + 1];
  m[n + 3] := 2*m[n + 2] - m[n + 1];
end 'tables.chords';

// Slopes of the cubic Hermite interpolant at all points.
function 'tables.slopes'
  input Real x[:];
  input Real y[size(x, 1)];
  input Integer smoothness;
  output Real s[size(x, 1)];
protected
  Integer n = size(x, 1);
  Real m[n + 3] = 'tables.chords'(x, y);
algorithm
  if smoothness == 4 or smoothness == 5 then
    s[1] := m[3];
    s[n] := m[n + 1];
    for i in 2:n - 1 loop
      s[i] := 'tables.monotone'(m[i + 1], m[i + 2], x[i] - x[i - 1], x[i + 1] - x[i], smoothness == 5);
    end for;
  else
    for i in 1:n loop
      s[i] := 'tables.weights'(m[i], m[i + 1], m[i + 2], m[i + 3], smoothness == 6)*m[i + 1:i + 2];
    end for;
  end if;
end 'tables.slopes';

// The interpolant at u, or its derivative of that order, where passed[i] says that u is not before x[i]: of the last
// segment begun coefficients are chosen, not values, so that derivatives and choices by events alone cost little.
// Slopes s are those of smooth interpolants.
function 'tables.curve'
  input Real x[:];
  input Real y[size(x, 1)];
  input Real s[size(x, 1)];
  input Real u;
  input Boolean passed[size(x, 1)];
  input Integer smoothness;
  input Integer extrapolation;
  input Integer order;
  output Real value;
protected
  Integer n = size(x, 1);
  Boolean smooth = smoothness <> 1 and smoothness <> 3;
  Boolean going_on = extrapolation == 2;
  Real x0 = x[1];
  Real c0 = y[1];
  Real c1 = 0;
  Real c2 = 0;
  Real c3 = 0;
  Real v;
  Real h;
  Real m;
  Real before = 0 "last chord";
algorithm
  for i in 1:n - 1 loop
    if not 'tables.same'(x[i], x[i + 1]) then
      h := x[i + 1] - x[i];
      m := (y[i + 1] - y[i])/h;
      if i == 1 and going_on then
        c1 := if smooth then s[1] else m;
      end if;
      if passed[i] or (extrapolation == 3 and i == 1) then
        x0 := x[i];
        c0 := y[i];
        c1 := if smooth then s[i] elseif smoothness == 1 then m else 0;
        if smooth then
          c2 := (3*m - 2*s[i] - s[i + 1])/h;
          c3 := (s[i] + s[i + 1] - 2*m)/h^2;
        end if;
      end if;
      before := m;
    else
      before := 0;
    end if;
  end for;
  if n > 1 and (extrapolation <> 3 or smoothness == 3) then
    if passed[n] then
      x0 := x[n];
      c0 := y[n];
      c1 := if not going_on then 0 elseif smooth then s[n] else before;
      c2 := 0;
      c3 := 0;
    end if;
  end if;
  v := u - x0;
  if n == 1 or (smoothness == 3 and not going_on) then
    value := if order == 0 then c0 else 0;
  elseif not smooth then
    value := if order == 0 then c0 + c1*v elseif order == 1 then c1 else 0;
  else
    value := if order == 0 then c0 + v*(c1 + v*(c2 + v*c3)) elseif order == 1 then c1 + v*(2*c2 + 3*v*c3)
             else 2*c2 + 6*v*c3;
  end if;
end 'tables.curve';

// u in the one period that the table has, x1 .. xn.
function 'tables.wrapped'
  input Real u;
  input Real x1;
  input Real xn;
  input Boolean periodic;
  output Real w;
algorithm
  if periodic and xn > x1 then
    w := u - (if u > xn then ceil((u - xn)/(xn - x1)) elseif u < x1 then floor((u - x1)/(xn - x1)) else 0)*(xn - x1);
  else
    w := u;
  end if;
end 'tables.wrapped';

// Which points u has passed. A derivative at a point belongs to the side that u comes to; the last point belongs to
// the table.
function 'tables.passed'
  input Real x[:];
  input Real u;
  input Real rate;
  input Integer order;
  output Boolean p[size(x, 1)];
protected
  Integer n = size(x, 1);
algorithm
  for i in 1:n loop
    if order == 0 then
      p[i] := u >= x[i];
    else
      p[i] := u > x[i] or (i < n and u == x[i] and (i == 1 or rate >= 0));
    end if;
  end for;
end 'tables.passed';

// Ends the run where a table without extrapolation is asked for more than it has.
function 'tables.inside'
  input Real u;
  input Real x1;
  input Real xn;
  input Integer extrapolation;
  output Real same_u;
algorithm
  assert(extrapolation <> 4 or x1 == xn or (u >= x1 and u <= xn),
    "a table is asked for its value at " + String(u) + ", but goes from " + String(x1) + " to " + String(xn) +
    " and has no extrapolation");
  same_u := u;
end 'tables.inside';

function 'tables.value'
  input Real x[:];
  input Real y[size(x, 1)];
  input Real u_given;
  input Real rate;
  input Integer smoothness;
  input Integer extrapolation;
  input Integer order;
  output Real value;
protected
  Integer n = size(x, 1);
  Real u;
  Integer row = 'tables.disorder'(x, false);
algorithm
  assert(row == 0, "the first column of a table must grow from row to row, but row " + String(row) + " does not");
  u := 'tables.wrapped'('tables.inside'(u_given, x[1], x[n], extrapolation), x[1], x[n], extrapolation == 3);
  value := 'tables.curve'(x, y, if smoothness == 1 or smoothness == 3 or n < 2 then zeros(n) else
    'tables.slopes'(x, y, smoothness), u, 'tables.passed'(x, u, rate, order), smoothness, extrapolation, order);
end 'tables.value';

// Column number `icol` of those that a table was asked for.
function 'tables.column'
  input Real 'table'[:, :];
  input Integer 'columns'[:];
  input Integer icol;
  output Real y[size('table', 1)];
algorithm
  assert('columns'[icol] >= 1 and 'columns'[icol] <= size('table', 2), "a table has no column " +
    String('columns'[icol]) + ", only " + String(size('table', 2)));
  y := 'table'[:, max(1, min('columns'[icol], size('table', 2)))];
end 'tables.column';

function 'external.ModelicaStandardTables_CombiTable1D_getValue'
  input 'tables.Table1D' tableID;
  input Integer icol;
  input Real u;
  output Real y;
algorithm
  y := 'tables.value'(tableID.table[:, 1], 'tables.column'(tableID.table, tableID.columns, icol), u, 0,
    Integer(tableID.smoothness), Integer(tableID.extrapolation), 0);
end 'external.ModelicaStandardTables_CombiTable1D_getValue';

function 'external.ModelicaStandardTables_CombiTable1D_getDerValue'
  input 'tables.Table1D' tableID;
  input Integer icol;
  input Real u;
  input Real der_u;
  output Real der_y;
algorithm
  der_y := der_u*'tables.value'(tableID.table[:, 1], 'tables.column'(tableID.table, tableID.columns, icol), u, der_u,
    Integer(tableID.smoothness), Integer(tableID.extrapolation), 1);
end 'external.ModelicaStandardTables_CombiTable1D_getDerValue';

function 'external.ModelicaStandardTables_CombiTable1D_getDer2Value'
  input 'tables.Table1D' tableID;
  input Integer icol;
  input Real u;
  input Real der_u;
  input Real der2_u;
  output Real der2_y;
protected
  Real x[:] = tableID.table[:, 1];
  Real y[:] = 'tables.column'(tableID.table, tableID.columns, icol);
algorithm
  der2_y := der2_u*'tables.value'(x, y, u, der_u, Integer(tableID.smoothness), Integer(tableID.extrapolation), 1)
    + der_u^2*'tables.value'(x, y, u, der_u, Integer(tableID.smoothness), Integer(tableID.extrapolation), 2);
end 'external.ModelicaStandardTables_CombiTable1D_getDer2Value';

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

// Tables over time. `next` is the first event that is still ahead: a point at or behind it has not been passed, so that
// a table has its value from the left up to the event, and from the right after it.

// Where point x comes in period number k.
function 'tables.moment'
  input Real x;
  input Real k;
  input Real period;
  input Real shift;
  output Real t;
algorithm
  t := if period > 0 then x + k*period + shift else x + shift;
end 'tables.moment';

// The number of the period that time t lies in, from 0; points at and behind `next` are ahead.
function 'tables.period'
  input Real x1;
  input Real period;
  input Real shift;
  input Real t;
  input Real next;
  output Real k;
protected
  Real guess;
  Real here;
  Real there;
algorithm
  if period > 0 then
    guess := floor((t - shift - x1)/period);
    here := 'tables.moment'(x1, guess, period, shift);
    there := 'tables.moment'(x1, guess + 1, period, shift);
    k := guess - 1 + (if here <= t and here < next then 1 else 0) + (if there <= t and there < next then 1 else 0);
  else
    k := 0;
  end if;
end 'tables.period';

// Where events are due (timeEvents). Long tables choose their segment by events alone: a chain over all rows in every
// evaluation costs more (a step of 200 rows 1 ms, of 2000 rows 7 ms; an event 0.3 ms).
function 'tables.events'
  input 'tables.TimeTable' tableID;
  output Integer kind;
algorithm
  kind := if size(tableID.table, 1) > 64 then 1 else Integer(tableID.timeEvents);
end 'tables.events';

function 'tables.at_time'
  input 'tables.TimeTable' tableID;
  input Integer icol;
  input Real t;
  input Real next;
  input Integer order;
  output Real value;
protected
  Real x[:] = tableID.table[:, 1];
  Real y[:] = 'tables.column'(tableID.table, tableID.columns, icol);
  Integer n = size(x, 1);
  Integer smoothness = Integer(tableID.smoothness);
  Integer extrapolation = Integer(tableID.extrapolation);
  Boolean smooth = n > 1 and smoothness <> 1 and smoothness <> 3;
  Real period = if extrapolation == 3 and n > 1 then x[n] - x[1] else 0;
  Real reached = if 'tables.events'(tableID) == 1 then next else t;
  Real k = 'tables.period'(x[1], period, tableID.shiftTime, reached, next);
  Boolean passed[n];
  Real at;
  Real u;
  Integer row = 'tables.disorder'(x, not smooth);
algorithm
  assert(row == 0, "the times of a table must not go down from row to row" + (if smooth then ", nor stay" else "") +
    ", but row " + String(row) + " does");
  for i in 1:n loop
    at := 'tables.moment'(x[i], k, period, tableID.shiftTime);
    passed[i] := (i < n or period == 0) and at <= reached and at < next; // a period's end begins the next
  end for;
  u := t - tableID.shiftTime - (if period > 0 then k*period else 0);
  value := if t >= tableID.startTime and tableID.startTime < next then 'tables.curve'(x, y,
    if smooth then 'tables.slopes'(x, y, smoothness) else zeros(n),
    'tables.inside'(u, x[1], x[n], extrapolation), passed, smoothness, extrapolation, order) else 0;
end 'tables.at_time';

function 'external.ModelicaStandardTables_CombiTimeTable_getValue'
  input 'tables.TimeTable' tableID;
  input Integer icol;
  input Real timeIn;
  input Real nextTimeEvent;
  input Real pre_nextTimeEvent;
  output Real y;
algorithm
  y := 'tables.at_time'(tableID, icol, timeIn, nextTimeEvent, 0);
end 'external.ModelicaStandardTables_CombiTimeTable_getValue';

function 'external.ModelicaStandardTables_CombiTimeTable_getDerValue'
  input 'tables.TimeTable' tableID;
  input Integer icol;
  input Real timeIn;
  input Real nextTimeEvent;
  input Real pre_nextTimeEvent;
  input Real der_timeIn;
  output Real der_y;
algorithm
  der_y := der_timeIn*'tables.at_time'(tableID, icol, timeIn, nextTimeEvent, 1);
end 'external.ModelicaStandardTables_CombiTimeTable_getDerValue';

function 'external.ModelicaStandardTables_CombiTimeTable_getDer2Value'
  input 'tables.TimeTable' tableID;
  input Integer icol;
  input Real timeIn;
  input Real nextTimeEvent;
  input Real pre_nextTimeEvent;
  input Real der_timeIn;
  input Real der2_timeIn;
  output Real der2_y;
algorithm
  der2_y := der2_timeIn*'tables.at_time'(tableID, icol, timeIn, nextTimeEvent, 1)
    + der_timeIn^2*'tables.at_time'(tableID, icol, timeIn, nextTimeEvent, 2);
end 'external.ModelicaStandardTables_CombiTimeTable_getDer2Value';

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
  Real x[:] = tableID.table[:, 1];
  Integer n = size(x, 1);
  Real period = if Integer(tableID.extrapolation) == 3 and n > 1 then x[n] - x[1] else 0;
  Integer kind = 'tables.events'(tableID);
  Real k = 'tables.period'(x[1], period, tableID.shiftTime, timeIn, 1e300);
  Real at;
  Boolean due;
algorithm
  next := if period > 0 then 'tables.moment'(x[1], k + 1, period, tableID.shiftTime) else 1e300;
  for i in n:-1:1 loop
    due := if period > 0 then i > 1 and not 'tables.same'(x[i], x[n]) else i == 1 or i == n;
    if (period > 0 and due or period == 0) and n > 1 and (kind == 1 or due and period == 0 or
        (kind == 2 and 'tables.same'(x[i], x[max(i - 1, 1)]))) then
      at := 'tables.moment'(x[i], k, period, tableID.shiftTime);
      next := if at > timeIn then at else next;
    end if;
  end for;
  next := if timeIn < tableID.startTime then tableID.startTime else next;
end 'external.ModelicaStandardTables_CombiTimeTable_nextTimeEvent';

// Tables over two variables: the first column has the points of u1, the first row those of u2.

// Mixed derivatives of Akima's surface at all points [Aki74]: mixed differences of the four fields around, weighted as
// the chords of the slopes are.
function 'tables.twist'
  input Real x[:];
  input Real y[:];
  input Real z[size(x, 1), size(y, 1)];
  output Real d[size(x, 1), size(y, 1)];
protected
  Integer n = size(x, 1);
  Integer m = size(y, 1);
  Real e[n + 1, m + 1];
  Real cx[n + 3];
  Real cy[m + 3];
algorithm
  for i in 1:n - 1 loop
    for j in 1:m - 1 loop
      e[i + 1, j + 1] := (z[i + 1, j + 1] - z[i + 1, j] - z[i, j + 1] + z[i, j])/((x[i + 1] - x[i])*(y[j + 1] - y[j]));
    end for;
    e[i + 1, 1] := if m > 2 then 2*e[i + 1, 2] - e[i + 1, min(3, m)] else e[i + 1, 2];
    e[i + 1, m + 1] := if m > 2 then 2*e[i + 1, m] - e[i + 1, m - 1] else e[i + 1, m];
  end for;
  e[1, :] := if n > 2 then 2*e[2, :] - e[min(3, n), :] else e[2, :];
  e[n + 1, :] := if n > 2 then 2*e[n, :] - e[n - 1, :] else e[n, :];
  for i in 1:n loop
    cy := 'tables.chords'(y, z[i, :]);
    for j in 1:m loop
      cx := 'tables.chords'(x, z[:, j]);
      d[i, j] := 'tables.weights'(cx[i], cx[i + 1], cx[i + 2], cx[i + 3], false)*(e[i:i + 1, j:j + 1]*
        'tables.weights'(cy[j], cy[j + 1], cy[j + 2], cy[j + 3], false));
    end for;
  end for;
end 'tables.twist';

// The surface at (u1, u2), or its derivative of these orders: curves along u2 for each row, and one of their values
// and slopes along u1.
function 'tables.surface'
  input Real x[:];
  input Real y[:];
  input Real z[size(x, 1), size(y, 1)];
  input Real u1;
  input Real u2;
  input Integer smoothness;
  input Integer extrapolation;
  input Integer order1;
  input Integer order2;
  output Real value;
protected
  Integer n = size(x, 1);
  Integer m = size(y, 1);
  Boolean smooth = smoothness == 2;
  Boolean passed1[n] = 'tables.passed'(x, u1, 0, order1);
  Boolean passed2[m] = 'tables.passed'(y, u2, 0, order2);
  Real row[m] = zeros(m);
  Real slopes[n, m] = zeros(n, m);
  Real twist[n, m] = zeros(n, m);
  Real along[n];
  Real across[n] = zeros(n);
algorithm
  if smooth and n > 1 then
    for j in 1:m loop
      slopes[:, j] := 'tables.slopes'(x, z[:, j], 2);
    end for;
    if m > 1 then
      twist := 'tables.twist'(x, y, z);
    end if;
  end if;
  for i in 1:n loop
    if smooth and m > 1 then
      row := 'tables.slopes'(y, z[i, :], 2);
    end if;
    along[i] := 'tables.curve'(y, z[i, :], row, u2, passed2, smoothness, extrapolation, order2);
    if smooth then
      across[i] := 'tables.curve'(y, slopes[i, :], twist[i, :], u2, passed2, smoothness, extrapolation, order2);
    end if;
  end for;
  value := 'tables.curve'(x, along, across, u1, passed1, smoothness, extrapolation, order1);
end 'tables.surface';

// Constant pieces that go on by the last two points do so as linear ones.
function 'tables.value2'
  input 'tables.Table2D' tableID;
  input Real u1;
  input Real u2;
  input Integer order1;
  input Integer order2;
  output Real value;
protected
  Real x[:] = tableID.table[2:end, 1];
  Real y[:] = tableID.table[1, 2:end];
  Integer n = size(x, 1);
  Integer m = size(y, 1);
  Integer given = Integer(tableID.smoothness);
  Integer extrapolation = Integer(tableID.extrapolation);
  Integer smoothness = if given == 2 and n <= 2 and m <= 2 then 1 else given;
  Boolean outside = (n > 1 and (u1 < x[1] or u1 > x[n])) or (m > 1 and (u2 < y[1] or u2 > y[m]));
  Real w1 = 'tables.wrapped'('tables.inside'(u1, x[1], x[n], extrapolation), x[1], x[n], extrapolation == 3);
  Real w2 = 'tables.wrapped'('tables.inside'(u2, y[1], y[m], extrapolation), y[1], y[m], extrapolation == 3);
  Integer bad1 = 'tables.disorder'(x, false);
  Integer bad2 = 'tables.disorder'(y, false);
algorithm
  assert(given <= 3, "tables over two variables are linear, constant or smooth by Akima's method; smoothness " +
    String(given) + " is for tables over one");
  assert(bad1 == 0, "the first column of a table must grow from row to row, but row " + String(bad1 + 1) + " does not");
  assert(bad2 == 0, "the first row of a table must grow, but column " + String(bad2 + 1) + " does not");
  value := 'tables.surface'(x, y, tableID.table[2:end, 2:end], w1, w2, smoothness, extrapolation, order1, order2);
  if smoothness == 3 and extrapolation == 2 then
    if outside then
      value := 'tables.surface'(x, y, tableID.table[2:end, 2:end], w1, w2, 1, extrapolation, order1, order2);
    end if;
  end if;
end 'tables.value2';

function 'external.ModelicaStandardTables_CombiTable2D_getValue'
  input 'tables.Table2D' tableID;
  input Real u1;
  input Real u2;
  output Real y;
algorithm
  y := 'tables.value2'(tableID, u1, u2, 0, 0);
end 'external.ModelicaStandardTables_CombiTable2D_getValue';

function 'external.ModelicaStandardTables_CombiTable2D_getDerValue'
  input 'tables.Table2D' tableID;
  input Real u1;
  input Real u2;
  input Real der_u1;
  input Real der_u2;
  output Real der_y;
algorithm
  der_y := der_u1*'tables.value2'(tableID, u1, u2, 1, 0) + der_u2*'tables.value2'(tableID, u1, u2, 0, 1);
end 'external.ModelicaStandardTables_CombiTable2D_getDerValue';

function 'external.ModelicaStandardTables_CombiTable2D_getDer2Value'
  input 'tables.Table2D' tableID;
  input Real u1;
  input Real u2;
  input Real der_u1;
  input Real der_u2;
  input Real der2_u1;
  input Real der2_u2;
  output Real der2_y;
algorithm
  der2_y := der2_u1*'tables.value2'(tableID, u1, u2, 1, 0) + der2_u2*'tables.value2'(tableID, u1, u2, 0, 1)
    + der_u1^2*'tables.value2'(tableID, u1, u2, 2, 0) + der_u2^2*'tables.value2'(tableID, u1, u2, 0, 2)
    + 2*der_u1*der_u2*'tables.value2'(tableID, u1, u2, 1, 1);
end 'external.ModelicaStandardTables_CombiTable2D_getDer2Value';

function 'external.ModelicaStandardTables_CombiTable2D_minimumAbscissa'
  input 'tables.Table2D' tableID;
  output Real u[2];
algorithm
  u := {tableID.table[2, 1], tableID.table[1, 2]};
end 'external.ModelicaStandardTables_CombiTable2D_minimumAbscissa';

function 'external.ModelicaStandardTables_CombiTable2D_maximumAbscissa'
  input 'tables.Table2D' tableID;
  output Real u[2];
algorithm
  u := {tableID.table[end, 1], tableID.table[1, end]};
end 'external.ModelicaStandardTables_CombiTable2D_maximumAbscissa';

function 'external.ModelicaStandardTables_CombiTable1D_close'
  input 'tables.Table1D' tableID;
algorithm
end 'external.ModelicaStandardTables_CombiTable1D_close';
