model SecondOrder "A + B -> P with unequal amounts"
  parameter Real k = 0.05 "l/(mol min)";
  Real a(start = 1.5), b(start = 1), p(start = 0), r;
equation
  r = k*a*b;
  der(a) = -r;
  der(b) = -r;
  der(p) = r;
  annotation(experiment(StopTime = 60));
end SecondOrder;
