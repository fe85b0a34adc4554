model StiffDecay "A transient that ends long before the first row"
  parameter Real k = 1e8;
  Real y(start = 2, fixed = true), z(start = 1, fixed = true);
equation
  der(y) = -k*(y - z);
  der(z) = -z;
  annotation(experiment(StopTime = 1));
end StiffDecay;
