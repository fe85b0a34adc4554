// S. Baese, Half-explicit Runge-Kutta methods for overdetermined semi-implicit DAEs, 2017, (4.7).
// The constraints printed there as hidden lack the terms of the changing length.
model PendulumWind "Pendulum on a rope that is pulled in, in changing wind, index 3"
  parameter Real m = 2 "mass";
  parameter Real g = 9.78 "gravity";
  Real x(start = 0, fixed = true), y(start = -2);
  Real v(start = 0, fixed = true), w(start = 0.03);
  Real lambda(start = 4.89);
  Real l(start = 2) "length of the rope";
  Real alpha(start = 1) "acceleration by the wind";
equation
  der(x) = v;
  der(y) = w;
  m*der(v) = -2*x*lambda + m*alpha;
  m*der(w) = -2*y*lambda - m*g;
  x^2 + y^2 = l^2 "rope";
  l = 0.5 + 0.03*(50 - time);
  alpha = 1 - 0.04*time;
  annotation(experiment(StartTime = 0, StopTime = 50, Tolerance = 1e-7));
end PendulumWind;
