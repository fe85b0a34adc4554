model PIDServo "PID control of a servo with a filtered derivative"
  parameter Real Kp = 30, Ki = 15, Kd = 8, Tf = 0.02;
  Real phi(start = 0, fixed = true), w(start = 0, fixed = true), I(start = 0, fixed = true), xd(start = 0, fixed = true);
  Real e, D, u;
equation
  e = (if time < 0.5 then 0 else 1) - phi;
  der(I) = e;
  der(xd) = (e - xd)/Tf;
  D = (e - xd)/Tf;
  u = Kp*e + Ki*I + Kd*D;
  der(phi) = w;
  der(w) = u - 2*w + (if time > 3 then -5 else 0);
  annotation(experiment(StopTime = 6));
end PIDServo;
