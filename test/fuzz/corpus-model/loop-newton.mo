function cube_root
  input Real a;
  output Real y;
protected
  Real d;
  Integer n;
algorithm
  y := 1;
  d := 1;
  n := 0;
  while abs(d) > 1e-15*abs(y) loop
    d := (y^3 - a)/(3*y^2);
    y := y - d;
    n := n + 1;
    if n >= 60 then
      break;
    end if;
  end while;
end cube_root;
model W1
  Real x(start=8,fixed=true);
  Real r = cube_root(x);
equation
  der(x) = 3*r;
  annotation(experiment(StopTime=2));
end W1;
