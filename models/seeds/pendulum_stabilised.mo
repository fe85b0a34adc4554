model PendulumStabilised "Pendulum of section 6.2, constraints on position and velocity: index 2"
  constant Real g = 1 "along +z2, as the tables have it";
  Real z1(start = 1, fixed = true);
  Real z2(start = 0);
  Real z3(start = 0);
  Real z4(start = 1, fixed = true);
  Real lambda(start = 1);
  Real mu(start = 0);
  output Real G1 = 1 - z1^2 - z2^2;
  output Real G2 = z1*z3 + z2*z4;
equation
  der(z1) = z3 + z1*mu;
  der(z2) = z4 + z2*mu;
  der(z3) = -z1*lambda;
  der(z4) = -z2*lambda + g;
  z1*z3 + z2*z4 = 0;
  z1^2 + z2^2 - 1 = 0;
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-6));
end PendulumStabilised;
