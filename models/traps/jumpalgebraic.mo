model JumpAlgebraic "An algebraic variable that jumps without an event"
  Real x(start = 0, fixed = true);
  Real y;
equation
  y = noEvent(if time < 0.37 then 0 else 1) - 0.1*x;
  der(x) = y;
end JumpAlgebraic;
