model Observer "State feedback with an observer of Luenberger"
  parameter Real A[2, 2] = [0, 1; 4, 0], B[2] = {0, 1}, K[2] = {13, 6}, L[2] = {20, 104};
  Real x[2](start = {0.5, 0}, each fixed = true), xh[2](each start = 0, each fixed = true), u;
equation
  u = -K*xh;
  der(x) = A*x + B*u;
  der(xh) = A*xh + B*u + L*(x[1] - xh[1]);
  annotation(experiment(StopTime = 3));
end Observer;
