function steps
  input Real u;
  output Integer k;
algorithm
  k := if u > 0.4 then 2 else 1;
end steps;
model M
  Real x(start = 0, fixed = true), u;
  Integer k, n(start = 0, fixed = true), passes, right;
  Boolean b;
  discrete Real held;
equation
  der(x) = 1;
  k = steps(x);
  b = noEvent(x > 0.5);
  when noEvent(x > 0.7) then
    n = pre(n) + 1;
  end when;
algorithm
  u := 0;
  passes := 0;
  while time > u loop
    u := u + 0.3;
    passes := passes + 1;
  end while;
algorithm
  when x > 0.6 then
    right := integer(10*x);
    held := x;
  end when;
end M;
