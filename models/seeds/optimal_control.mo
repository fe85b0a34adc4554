// (1.52) of [HW96 VII.1], the conditions of a linear control problem with quadratic costs, as an
// initial value problem: the index is 1 where D is positive, and 3 where D = 0 and B' C B > 0.
model OptimalControl "Linear optimal control, index 1 or 3"
  parameter Real A[2, 2] = {{0, 1}, {-1, -0.5}}, B[2] = {1, 0.5}, C[2, 2] = {{2, 0}, {0, 1}};
  parameter Real D = 1 "cost of the control";
  Real y[2](start = {1, 0}), v[2], u;
equation
  der(y) = A*y + B*u + {sin(time), 0};
  der(v) = -transpose(A)*v - C*y;
  0 = B*v + D*u;
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-9));
end OptimalControl;
