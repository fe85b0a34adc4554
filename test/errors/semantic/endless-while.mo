model M
  function f
    input Integer n;
    output Integer y;
  algorithm
    y := n;
    while y > 0 loop
      y := y + 1;
    end while;
  end f;
  Real a = f(1);
end M;
