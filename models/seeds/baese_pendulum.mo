// [Baese17] example 2.13 and (4.5): (2.7), whose hidden constraints are found. With this g a swing
// takes two seconds.
model BaesePendulum "Pendulum, index 3"
  parameter Real m = 1, l = 1, g = 13.7503716373294544;
  Real x(start = -1, fixed = true), y(start = 0);
  Real v(start = 0, fixed = true), w(start = 0);
  Real lambda(start = 0);
equation
  der(x) = v;
  der(y) = w;
  m*der(v) = -2*x*lambda;
  m*der(w) = -2*y*lambda - m*g;
  0 = x^2 + y^2 - l^2;
  annotation(experiment(StartTime = 0, StopTime = 20, Tolerance = 1e-7));
end BaesePendulum;
