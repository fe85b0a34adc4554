// The plane pendulum with second derivatives: three equations. The offsets are Pryce's first
// example (J. D. Pryce, A simple structural analysis method for DAEs, BIT 41, 2001).
model Pendulum2nd "Plane pendulum written with second derivatives, index 3"
  parameter Real m(unit = "kg") = 1, L(unit = "m") = 1, g(unit = "m/s2") = 1;
  Real x(unit = "m", start = L), y(unit = "m", start = 0, fixed = true);
  Real lambda(unit = "N/m") "force in the rod per length";
initial equation
  der(y) = 0;
equation
  m*der(der(x)) = -lambda*x;
  m*der(der(y)) = -lambda*y - m*g;
  x^2 + y^2 = L^2 "rod";
  annotation(experiment(StartTime = 0, StopTime = 10, Tolerance = 1e-7));
end Pendulum2nd;
