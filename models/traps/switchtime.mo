model SwitchTime "A slope that jumps in time, without an event"
  Real x(start = 0, fixed = true);
equation
  der(x) = noEvent(if time < 1/3 then 1 else -1);
end SwitchTime;
