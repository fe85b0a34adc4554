model PendulumAcceleration "Pendulum of section 6.2, constraint on the acceleration: index 1"
  constant Real g = 1 "along +z2, as the tables have it";
  Real z1(start = 1, fixed = true);
  Real z2(start = 0, fixed = true);
  Real z3(start = 0, fixed = true);
  Real z4(start = 1, fixed = true);
  Real lambda(start = 1);
  output Real G1 = 1 - z1^2 - z2^2;
  output Real G2 = z1*z3 + z2*z4;
  output Real G3 = z3^2 + z4^2 - lambda + z2;
equation
  der(z1) = z3;
  der(z2) = z4;
  der(z3) = -z1*lambda;
  der(z4) = -z2*lambda + g;
  z3^2 + z4^2 - lambda + z2*g = 0;
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-6));
end PendulumAcceleration;
