function poly
  input Real c[:];
  input Real x;
  input Integer n;
  output Real y;
  output Real dy;
algorithm
  y := 0;
  dy := 0;
  for i in n:-1:1 loop
    dy := dy*x + y;
    y := y*x + c[i];
  end for;
end poly;
function firstAbove
  input Real v[:];
  input Real limit;
  output Integer k;
algorithm
  k := 1;
  while true loop
    if k > size(v, 1) then
      return;
    end if;
    if v[k] > limit then
      break;
    end if;
    k := k + 1;
  end while;
end firstAbove;
model W2
  Real x(start=1,fixed=true);
  Real y, dy;
  Integer n = 1 + integer(time);
  Real k;
equation
  (y, dy) = poly({1, 2, 3, 4}, x, n);
  der(x) = -0.1*dy;
  k = firstAbove({1,2,3,4}, time);
  annotation(experiment(StopTime=3.5));
end W2;
