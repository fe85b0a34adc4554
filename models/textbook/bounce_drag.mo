model BounceDrag "Ball that bounces, with drag of the air"
  parameter Real g = 9.81, m = 0.058, k = 4e-4, e = 0.75;
  Real h(start = 2, fixed = true), v(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(h) = v;
  m*der(v) = -m*g - k*v*abs(v);
  when h < 0 then
    reinit(v, -e*pre(v));
    n = pre(n) + 1;
  end when;
  annotation(experiment(StopTime = 3));
end BounceDrag;
