model M
  function f
    input Real x;
    output Real y;
  algorithm
    y := x*p;
  end f;
  Real p = 1;
  Real a = f(time);
end M;
