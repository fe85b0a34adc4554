model Pendulum "a pendulum" + " in the plane"
  parameter Real L = 1 "length";
  constant Real g = 9.81;
  Real x(start = 1, fixed = true), y, vx, vy;
  Real lambda;
  Real[3] a[2];
  type V = Real(unit = "V");
  function f input Real u; output Real w; algorithm w := if u < 0 then -u^2 else if u > 3 then 2 else u; end f;
equation
  der(x) = vx; der(y) = vy;
  der(vx) = -lambda * x; 
  der(vy) = -lambda * y - g;
  x^2 + y^2 = L^2 "length";
  for i in 1:2, j in 1:3 loop a[i, j] = i * j; end for;
  a[end, 1] = sum(x for i in 1:3) + [1, 2; 3, 4]*{1,2} + {i for i in 1:4};
  if x > 1 then y = 2; elseif x < 3 then y = 3; else y = 5; end if;
  when {x > 1, initial()} then reinit(x, pre(x)); elsewhen sample(0, 1) then y = 2; end when;
  (x, , y) = f(1, u = 2);
  annotation(experiment(StopTime = 10, Tolerance=1e-6), Icon(coordinateSystem(extent={{-1,-1},{1,1}})));
end Pendulum;
