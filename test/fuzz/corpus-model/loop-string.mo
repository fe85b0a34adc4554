model M
  function f
    input Real x;
    output Real y;
  protected
    String s;
  algorithm
    y := x;
    s  and  "a";
    while y > 1 loop
      y := y/2;
      s := "b";
    end while;
  end f;
  Real a = f(time);
end M;
