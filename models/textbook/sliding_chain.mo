model SlidingChain "A chain slides off a table"
  parameter Real L = 2, g = 9.81;
  Real x(start = 0.2, fixed = true) "hangs over the edge", v(start = 0, fixed = true);
equation
  der(x) = v;
  L*der(v) = if x < L then g*x else g*L;
  annotation(experiment(StopTime = 1.6));
end SlidingChain;
