// S. Baese, Half-explicit Runge-Kutta methods for overdetermined semi-implicit DAEs, 2017, (4.1).
// Hidden constraint x y - sin(t) y z = 0; no choice of states is good throughout.
model Selector "Trigonometric example for a change of the states, index 2 in 0 < t < pi/2"
  parameter Real w = 1 "of the given function of time";
  constant Real pi = 2*asin(1.0);
  Real x(start = sin(0.125*pi), fixed = true), y(start = cos(0.125*pi)), z(start = 1);
equation
  der(x) = y;
  der(y) = -sin(w*time)*z;
  x^2 + y^2 = 1;
  annotation(experiment(StartTime = 0.125*pi, StopTime = 0.375*pi, Tolerance = 1e-7));
end Selector;
