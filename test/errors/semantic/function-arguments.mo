model M
  function f
    input Real x;
    input Real y[2];
    output Real z;
  algorithm
    z := x*y[1];
  end f;
  Real a = f(1);
  Real b = f(1, {1, 2}, 3);
  Real c = f(1, w = 2);
  Real d = f(true, {1, 2});
  Real e = f(1, {1, 2, 3});
end M;
