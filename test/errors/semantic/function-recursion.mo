model M
  function f
    input Real x;
    output Real y;
  algorithm
    y := if x > 1 then f(x/2) else x;
  end f;
  Real a = f(time);
end M;
