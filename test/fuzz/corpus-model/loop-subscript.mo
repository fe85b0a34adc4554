function f
  input Real t[:];
  input Real a;
  output Real y;
protected Integer i;
algorithm
  y := 0; i := 0;
  while y < a loop
    i := i + 1;
    y := y + t[i];
  end while;
end f;
model W4
  Real x(start=1,fixed=true);
equation
  der(x) = f({1,1,1}, x);
  annotation(experiment(StopTime=3.5));
end W4;
