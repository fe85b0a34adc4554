model GrazeLoose "x = cos(t) does not reach g = -1.0001, but for errors"
  parameter Real g = -1.0001;
  Real x(start = 1, fixed = true), v(start = 0, fixed = true);
  discrete Integer n(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -x;
  when x < g then
    n = pre(n) + 1;
  end when;
  annotation(experiment(StopTime = 6));
end GrazeLoose;
