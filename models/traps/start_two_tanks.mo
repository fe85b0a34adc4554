model start_two_tanks "flow q |q| between two tanks: no gradient at the guess q = 0"
  Real p1(start = 2, fixed = true), p2(start = 1, fixed = true), q;
equation
  der(p1) = -0.1*q;
  der(p2) = 0.1*q;
  p1 - p2 = 0.5*q*abs(q);
  annotation(experiment(StopTime = 1));
end start_two_tanks;
