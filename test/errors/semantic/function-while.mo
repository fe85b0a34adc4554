model M
  function root
    input Real x;
    output Real y;
  algorithm
    y := x;
    while y > 1 loop
      y := y/2;
    end while;
  end root;
  Real a = root(time);
end M;
