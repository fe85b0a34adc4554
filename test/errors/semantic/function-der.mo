model M
  function f
    input Real x;
    output Real y;
  algorithm
    y := der(x);
  end f;
  Real a = f(time);
end M;
