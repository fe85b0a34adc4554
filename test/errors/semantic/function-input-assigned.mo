model M
  function f
    input Real x;
    output Real y;
  algorithm
    x := 2;
    y := x;
  end f;
  Real a = f(time);
end M;
