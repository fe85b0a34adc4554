model SwitchState "A rate that jumps where the state crosses 1/2, without an event"
  Real x(start = 1, fixed = true);
equation
  der(x) = -noEvent(if x > 0.5 then 1 else 10)*x;
end SwitchState;
