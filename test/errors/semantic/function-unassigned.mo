model M
  function f
    input Real x;
    output Real y;
  protected
    Real t;
  algorithm
    y := x + t;
  end f;
  Real a = f(time);
end M;
