// Modelica.Mechanics.MultiBody.Frames: rotations. T turns a vector of frame 1 into the same vector seen in frame 2.

// Rodrigues' formula, about the unit vector e.
function 'Modelica.Mechanics.MultiBody.Frames.TransformationMatrices.planarRotation'
  input Real e[3];
  input Real angle;
  output Real T[3, 3];
algorithm
  T := outerProduct(e, e)*(1 - cos(angle)) + identity(3)*cos(angle) - skew(e)*sin(angle);
end 'Modelica.Mechanics.MultiBody.Frames.TransformationMatrices.planarRotation';

function 'Modelica.Mechanics.MultiBody.Frames.TransformationMatrices.resolve1'
  input Real T[3, 3];
  input Real v2[3];
  output Real v1[3];
algorithm
  v1 := transpose(T)*v2;
end 'Modelica.Mechanics.MultiBody.Frames.TransformationMatrices.resolve1';

function 'Modelica.Mechanics.MultiBody.Frames.TransformationMatrices.resolve2'
  input Real T[3, 3];
  input Real v1[3];
  output Real v2[3];
algorithm
  v2 := T*v1;
end 'Modelica.Mechanics.MultiBody.Frames.TransformationMatrices.resolve2';

// The angle about e that turns v1 into v2: both are projected onto the plane of e.
function 'Modelica.Mechanics.MultiBody.Frames.planarRotationAngle'
  input Real e[3];
  input Real v1[3];
  input Real v2[3];
  output Real angle;
algorithm
  angle := atan2(-cross(e, v1)*v2, v1*v2 - (e*v1)*(e*v2));
end 'Modelica.Mechanics.MultiBody.Frames.planarRotationAngle';
