model StickSlip "A mass on a moving belt, held by a spring: it sticks and slips"
  parameter Real m = 1, k = 10, vBelt = 0.5, Fs = 6 "static friction", Fd = 4 "sliding friction";
  Real x(start = 0, fixed = true), v(start = 0.5, fixed = true);
  Boolean stuck(start = true, fixed = true);
equation
  der(x) = v;
  m*der(v) = if stuck then 0 else Fd - k*x;
  when k*x > Fs then
    stuck = false;
  elsewhen v > vBelt and not pre(stuck) and k*x < Fs then
    stuck = true;
    reinit(v, vBelt);
  end when;
  annotation(experiment(StopTime = 8));
end StickSlip;
