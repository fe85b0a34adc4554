// Three states do well; the load p is given twice.
model PartOver "A small overdetermined part in a model that is fine otherwise"
  parameter Real w = 1;
  Real a(start = 1, fixed = true), b(start = 0, fixed = true), c(start = 0, fixed = true);
  Real p "load";
equation
  der(a) = -a + b;
  der(b) = a - 2*b + c;
  der(c) = b - 2*c + p;
  p = 1 + 0.5*sin(w*time); // culprit
  p^3 = 2 + cos(w*time); // culprit
end PartOver;
