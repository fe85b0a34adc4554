model PoleRelation "the difference of the two sides changes its sign at a pole: 1/x > 100 for 0 < x < 0.01"
  Real x(start = -1, fixed = true), c(start = 0, fixed = true);
equation
  der(x) = 1;
  der(c) = if 1/x > 100 then 1 else 0;
  annotation(experiment(StopTime = 3));
end PoleRelation;
