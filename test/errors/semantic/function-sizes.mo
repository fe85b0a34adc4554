model M
  function f
    input Real x;
    output Real y[2];
  algorithm
    y := {x, x, x};
  end f;
  Real a[2] = f(time);
end M;
