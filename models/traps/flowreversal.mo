// q |q| = p with p = cos(t): the factor of q, 2 |q|, is zero at t = pi/2, and q goes on.
model FlowReversal "An equation whose slope touches zero and that stays solvable"
  Real p, q(start = 1), x(start = 0, fixed = true);
equation
  p = cos(time);
  q*abs(q) = p;
  der(x) = p*p;
  annotation(experiment(StopTime = 3));
end FlowReversal;
