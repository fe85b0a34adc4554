// x = (1 - t/2)^2 until t = 2; then 0 is a solution, and so is every (t - s)^2/4 from s >= 2 on.
model rest_leaves "The solution comes to a point that others leave"
  Real x(start = 1, fixed = true), v(start = -1);
equation
  der(x) = v;
  v^2 = x;
  annotation(experiment(StopTime = 4));
end rest_leaves;
