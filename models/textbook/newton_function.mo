model WeirFlow "Critical depth in a channel by a loop of Newton's method in a function"
  function depth "root of y^3 + a y^2 = b"
    input Real a;
    input Real b;
    output Real y;
  protected
    Real dy;
    Integer n;
  algorithm
    y := 1;
    dy := 1;
    n := 0;
    while abs(dy) > 1e-12 and n < 50 loop
      dy := (y^3 + a*y^2 - b)/(3*y^2 + 2*a*y);
      y := y - dy;
      n := n + 1;
    end while;
  end depth;
  Real Q, y, V(start = 0, fixed = true);
equation
  Q = 2 + sin(time);
  y = depth(0.5, Q^2/9.81);
  der(V) = Q*y;
  annotation(experiment(StopTime = 8));
end WeirFlow;
