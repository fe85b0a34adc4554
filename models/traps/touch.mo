model Touch "a relation whose sides touch and part again is no event; one that dips by 1e-4 makes two"
  Real x(start = 1, fixed = true), n(start = 0, fixed = true);
  Integer touches(start = 0, fixed = true), dips(start = 0, fixed = true);
equation
  der(x) = 2*(time - 1);
  der(n) = 1;
  when (n - 2)^2 < 1e-8 then
    dips = pre(dips) + 1;
  end when;
  when (n - 1)^2 < 0 then
    touches = pre(touches) + 1;
  end when;
  annotation(experiment(StopTime = 3));
end Touch;
