model M
  function f
    input Real x;
    output Real y = x;
    output Real z = 2*x;
  end f;
  Real a;
  Real b;
  Real c;
equation
  (a, b, c) = f(time);
end M;
