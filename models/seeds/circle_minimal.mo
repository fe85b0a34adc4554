model CircleMinimal "models/circle.mo in minimal extension of second order, q2 <> 0 [Wun05 (8.5)]"
  // The last row is that of the print with w2 for the acceleration of q2, by the third row.
  Real q1(start = 0, fixed = true) "sin(t)";
  Real q2(start = 1) "cos(t)";
  Real w1(start = 0) "stands for der(q2)";
  Real w2(start = -1) "stands for the second derivative of q2";
  Real lambda(start = 0) "sin(t)*cos(t)";
  Real v1(start = 1, fixed = true) "der(q1)";
equation
  der(q1) = v1;
  der(v1) = -q1 - 2*q1*v1*w1 - 2*q1*lambda;
  w2 = -v1 + 2*q1*q2^2 - 2*q2*lambda;
  0 = q1^2 + q2^2 - 1;
  0 = 2*q1*v1 + 2*q2*w1;
  0 = 2*v1^2 - 2*q1*(q1 + 2*q1*v1*w1 + 2*q1*lambda) + 2*w1^2 + 2*q2*w2;
  annotation(experiment(StartTime = 0, StopTime = 1));
end CircleMinimal;
