model M
  function f
    input Real x;
    output Real y;
  algorithm
    y := 0;
    for t in 0:0.5:x loop
      y := y + t;
    end for;
  end f;
  Real a = f(time);
end M;
