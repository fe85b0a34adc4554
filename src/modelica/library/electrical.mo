// Modelica.Electrical.Polyphase: windings.

// Angles of the axes of m symmetric phases: m even, they are two systems of m/2 phases, turned by pi/m; two phases
// stand at a right angle.
function 'Modelica.Electrical.Polyphase.Functions.symmetricOrientation'
  input Integer m;
  output Real orientation[m];
protected
  Real pi = 3.14159265358979323846;
  Integer half = div(m, 2);
algorithm
  if m == 2 then
    orientation := {0, pi/2};
  elseif mod(m, 2) == 1 then
    orientation := {2*pi*(k - 1)/m for k in 1:m};
  else
    orientation[1:half] := 'Modelica.Electrical.Polyphase.Functions.symmetricOrientation'(half);
    orientation[half + 1:m] := orientation[1:half] - fill(pi/m, half);
  end if;
end 'Modelica.Electrical.Polyphase.Functions.symmetricOrientation';
