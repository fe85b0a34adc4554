// y has no value where x is not positive: it had that of the other path.
function half
  input Real x;
  output Real y;
algorithm
  if x > 0 then
    y := x/2;
  end if;
end half;

model SomePath
  parameter Real a = 1;
  Real x(start = a, fixed = true);
  Real y = half(x);
equation
  der(x) = -1;
  annotation(experiment(StopTime = 2));
end SomePath;
