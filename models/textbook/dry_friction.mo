model DryFriction "A block is shaken by a force and sticks now and then (Coulomb)"
  parameter Real m = 1, Fc = 2;
  Real s(start = 0, fixed = true), v(start = 0, fixed = true), F, R;
  Integer mode(start = 0, fixed = true) "-1 and 1: slides, 0: sticks";
equation
  F = 4*sin(2*time);
  der(s) = v;
  R = if mode == 0 then F else Fc*mode;
  m*der(v) = F - R;
  when pre(mode) == 0 and F > Fc then
    mode = 1;
  elsewhen pre(mode) == 0 and F < -Fc then
    mode = -1;
  elsewhen pre(mode) == 1 and v < 0 then
    mode = if F < -Fc then -1 else 0;
    reinit(v, 0);
  elsewhen pre(mode) == -1 and v > 0 then
    mode = if F > Fc then 1 else 0;
    reinit(v, 0);
  end when;
  annotation(experiment(StopTime = 10));
end DryFriction;
