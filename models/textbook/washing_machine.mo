model WashingMachine "A washing machine fills, heats, washes and empties"
  Integer state(start = 1, fixed = true) "1 fill, 2 heat, 3 wash, 4 empty, 5 done";
  discrete Real t0(start = 0, fixed = true);
  Real level(start = 0, fixed = true) "l", T(start = 15, fixed = true);
equation
  der(level) = if state == 1 then 6 elseif state == 4 then -10 else 0;
  der(T) = if state == 2 then 4 else -0.02*(T - 20);
  when pre(state) == 1 and level >= 12 then
    state = 2;
    t0 = time;
  elsewhen pre(state) == 2 and T >= 60 then
    state = 3;
    t0 = time;
  elsewhen pre(state) == 3 and time > pre(t0) + 20 then
    state = 4;
    t0 = time;
  elsewhen pre(state) == 4 and level <= 0 then
    state = 5;
    t0 = time;
  end when;
  annotation(experiment(StopTime = 50));
end WashingMachine;
