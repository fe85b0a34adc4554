model OutputCounter "outputs of discrete variables: 1/n is infinite until the first event"
  Integer n(start = 0, fixed = true);
  Real y, z;
equation
  y = 2*n + time;
  z = 1/n;
  when sample(0.25, 0.5) then
    n = pre(n) + 1;
  end when;
end OutputCounter;
