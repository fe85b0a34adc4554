model InitialShared "an initial equation of a chain whose members are used twice each: 2^40 ways to the one value behind it"
  Integer n(start = 1, fixed = true), a[40];
equation
  when time > 0.5 then
    n = pre(n) + 1;
  end when;
  a[1] = pre(n) + 2*pre(n);
  for k in 2:40 loop
    a[k] = (a[k - 1] - 1) - 2*(a[k - 1] - 2);
  end for;
initial equation
  a[40] = 7;
  annotation(experiment(StopTime = 1));
end InitialShared;
