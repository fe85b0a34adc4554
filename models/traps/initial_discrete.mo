model InitialDiscrete "initial equations of discrete variables, of every type, count where equations define them"
  type E = enumeration(one, two, three);
  Boolean active, next, no;
  Integer n, m, k[2], l[2];
  discrete Real r(start = 0), q;
  E e, f;
initial equation
  active = true;
  n = 7;
  k = {3, 4};
  pre(r) = 2.5;
  q = 1.5;
  e = E.three;
equation
  active = pre(next);
  next = active and time < 0.5;
  no = not pre(next);
  n = pre(m) + 1;
  m = if time < 0.5 then n - 1 else 3;
  k = pre(l);
  l = if time < 0.5 then k else {0, 0};
  q = 2*pre(r) - 3.5;
  when time > 0.5 then
    r = pre(r) + 1;
  end when;
  e = pre(f);
  f = if time < 0.5 then e else E.one;
  annotation(experiment(StopTime = 1));
end InitialDiscrete;
