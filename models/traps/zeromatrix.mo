model ZeroMatrix "a mechanism whose matrices are parameters, with zeros in them"
  parameter Real M[2, 2] = {{1, 0}, {0, 1}}, D[2, 2] = {{0, 0}, {0, 0}};
  Real q[2](start = {1, 0}), v[2](start = {0, 0}), lambda;
equation
  der(q) = v;
  M*der(v) = -D*v - lambda*q - {0, 1};
  q[1]^2 + q[2]^2 = 1;
  annotation(experiment(StopTime = 10));
end ZeroMatrix;
