model ZeroLength "a rod without a length: its gradient vanishes wherever it holds"
  parameter Real L = 0;
  Real x(start = L), y(start = 0), vx, vy, lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - 9.81;
  x^2 + y^2 = L^2;
end ZeroLength;
