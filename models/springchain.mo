// S. Baese, Half-explicit Runge-Kutta methods for overdetermined semi-implicit DAEs, 2017, (4.8);
// after A. Steinbrecher, TU Berlin preprint 2016/01. Five levels of constraints.
model SpringChain "Three masses, two springs: forces outside keep the inner mass on a path, index 5"
  parameter Real m(unit = "kg") = 1 "each mass";
  parameter Real c(unit = "N/m") = 1/6 "each spring";
  parameter Real a(unit = "m") = 1 "amplitude of the path";
  parameter Real omega(unit = "rad/s") = 1 "frequency of the path";
  Real p[3](each unit = "m", start = {0, 0, 0}, fixed = {true, false, false}) "positions";
  Real v[3](each unit = "m/s", start = {-2, 1, -2}, fixed = {true, false, false}) "velocities";
  Real F(unit = "N", start = 0) "force on both outer masses";
equation
  der(p[1]) = v[1];
  der(p[2]) = v[2];
  der(p[3]) = v[3];
  m*der(v[1]) = F - c*(p[1] - p[2]);
  m*der(v[2]) = c*(p[1] - p[2]) - c*(p[2] - p[3]);
  m*der(v[3]) = F + c*(p[2] - p[3]);
  p[2] = a*sin(omega*time) "path";
  annotation(experiment(StartTime = 0, StopTime = 20, Tolerance = 1e-7));
end SpringChain;
