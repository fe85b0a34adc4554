model FreeOrbit "a planet on its ellipse, e = 0.6: no constraints"
  Real x(start = 0.4, fixed = true), y(start = 0, fixed = true);
  Real u(start = 0, fixed = true), v(start = 2, fixed = true), r;
equation
  r = sqrt(x^2 + y^2);
  der(x) = u;
  der(y) = v;
  der(u) = -x/r^3;
  der(v) = -y/r^3;
  annotation(experiment(StopTime = 6.283185307179586));
end FreeOrbit;
