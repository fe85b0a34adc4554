model Circle "Point on the unit circle with a closed solution, index 3"
  Real q1(start = 0, fixed = true) "sin(t)";
  Real q2(start = 1) "cos(t)";
  Real v1(start = 1, fixed = true);
  Real v2(start = 0);
  Real lambda "sin(t)*cos(t)";
equation
  der(q1) = v1;
  der(q2) = v2;
  der(v1) = -q1 - 2*q1*v1*v2 - 2*q1*lambda;
  der(v2) = -v1 + 2*q1*q2^2 - 2*q2*lambda;
  q1^2 + q2^2 = 1 "circle";
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end Circle;
