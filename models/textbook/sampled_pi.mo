model SampledPI "A computer controls a tank ten times a minute"
  parameter Real Ts = 0.1, Kp = 1.5, Ki = 1;
  Real y(start = 0, fixed = true);
  discrete Real e(start = 0, fixed = true), I(start = 0, fixed = true), u(start = 0, fixed = true);
equation
  when sample(0, Ts) then
    e = 1 - y;
    I = pre(I) + Ts*Ki*e;
    u = Kp*e + I;
  end when;
  der(y) = u - y;
  annotation(experiment(StopTime = 4));
end SampledPI;
