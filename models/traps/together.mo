model Together "four relations change at t = 1, by four ways; all clauses act once"
  Real x(start = 0, fixed = true), y(start = 1, fixed = true), z(start = 3, fixed = true);
  Integer a(start = 0, fixed = true), b(start = 0, fixed = true);
equation
  der(x) = 1;
  der(y) = 2;
  der(z) = 0;
  when x >= 1 and y >= 3 and time >= 1 then
    a = pre(a) + 1;
    reinit(z, pre(z) + x + y);
  end when;
  when {x >= 1, y >= 3} then
    b = pre(b) + 1;
  end when;
  annotation(experiment(StopTime = 2));
end Together;
