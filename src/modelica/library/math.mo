// Modelica.Math, Modelica.ComplexMath, Modelica.Units.Conversions: functions under their library names.

function 'Modelica.Math.sin'
  input Real u;
  output Real y;
algorithm
  y := sin(u);
end 'Modelica.Math.sin';

function 'Modelica.Math.cos'
  input Real u;
  output Real y;
algorithm
  y := cos(u);
end 'Modelica.Math.cos';

function 'Modelica.Math.tan'
  input Real u;
  output Real y;
algorithm
  y := tan(u);
end 'Modelica.Math.tan';

function 'Modelica.Math.asin'
  input Real u;
  output Real y;
algorithm
  y := asin(u);
end 'Modelica.Math.asin';

function 'Modelica.Math.acos'
  input Real u;
  output Real y;
algorithm
  y := acos(u);
end 'Modelica.Math.acos';

function 'Modelica.Math.atan'
  input Real u;
  output Real y;
algorithm
  y := atan(u);
end 'Modelica.Math.atan';

function 'Modelica.Math.atan2'
  input Real u1;
  input Real u2;
  output Real y;
algorithm
  y := atan2(u1, u2);
end 'Modelica.Math.atan2';

function 'Modelica.Math.sinh'
  input Real u;
  output Real y;
algorithm
  y := sinh(u);
end 'Modelica.Math.sinh';

function 'Modelica.Math.cosh'
  input Real u;
  output Real y;
algorithm
  y := cosh(u);
end 'Modelica.Math.cosh';

function 'Modelica.Math.tanh'
  input Real u;
  output Real y;
algorithm
  y := tanh(u);
end 'Modelica.Math.tanh';

function 'Modelica.Math.exp'
  input Real u;
  output Real y;
algorithm
  y := exp(u);
end 'Modelica.Math.exp';

function 'Modelica.Math.log'
  input Real u;
  output Real y;
algorithm
  y := log(u);
end 'Modelica.Math.log';

function 'Modelica.Math.log10'
  input Real u;
  output Real y;
algorithm
  y := log10(u);
end 'Modelica.Math.log10';

// Euclidean norm, and the vector of that direction; what is shorter than eps is divided by eps.
function 'Modelica.Math.Vectors.length'
  input Real v[:];
  output Real result;
algorithm
  result := sqrt(v*v);
end 'Modelica.Math.Vectors.length';

function 'Modelica.Math.Vectors.normalize'
  input Real v[:];
  input Real eps = 1.0e-13;
  output Real result[size(v, 1)];
protected
  Real size_of_v = sqrt(v*v);
algorithm
  result := if size_of_v >= eps then v/size_of_v else v/eps;
end 'Modelica.Math.Vectors.normalize';

function 'Modelica.Units.Conversions.from_degC'
  input Real Celsius;
  output Real Kelvin;
algorithm
  Kelvin := Celsius + 273.15;
end 'Modelica.Units.Conversions.from_degC';

function 'Modelica.Units.Conversions.to_degC'
  input Real Kelvin;
  output Real Celsius;
algorithm
  Celsius := Kelvin - 273.15;
end 'Modelica.Units.Conversions.to_degC';

function 'Modelica.Units.Conversions.from_deg'
  input Real degree;
  output Real radian;
algorithm
  radian := degree*3.14159265358979323846/180.0;
end 'Modelica.Units.Conversions.from_deg';

function 'Modelica.Units.Conversions.to_deg'
  input Real radian;
  output Real degree;
algorithm
  degree := radian*180.0/3.14159265358979323846;
end 'Modelica.Units.Conversions.to_deg';
