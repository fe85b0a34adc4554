// [Baese17 (4.6)]: the constraint is replaced by its second derivative, so that nothing keeps the
// length.
model BaesePendulumLevel "Pendulum with the constraint on accelerations alone, index 1"
  parameter Real m = 1, g = 13.7503716373294544;
  Real x(start = -1, fixed = true), y(start = 0, fixed = true);
  Real v(start = 0, fixed = true), w(start = 0, fixed = true);
  Real lambda(start = 0);
equation
  der(x) = v;
  der(y) = w;
  m*der(v) = -2*x*lambda;
  m*der(w) = -2*y*lambda - m*g;
  0 = 2*v^2 + 2*w^2 - 4/m*(x^2 + y^2)*lambda - 2*g*y;
  annotation(experiment(StartTime = 0, StopTime = 20, Tolerance = 1e-7));
end BaesePendulumLevel;
