model Overflow "A tank is filled until its weir carries the rest away"
  parameter Real A = 1.5 "m2", hw = 2 "m, edge of the weir";
  Real h(start = 1.5, fixed = true), qin "m3/min", qout, spilled(start = 0, fixed = true);
equation
  qin = if time < 10 then 0.2 else 0.05;
  qout = if h > hw then 6*(h - hw)^1.5 else 0;
  A*der(h) = qin - qout;
  der(spilled) = qout;
  annotation(experiment(StopTime = 20));
end Overflow;
