model PendulumState "(6.2.5) with the sign of gravity: the state space form of the pendulum"
  parameter Real g = 1, L = 1;
  Real phi(start = asin(1.0), fixed = true), omega(start = 0, fixed = true);
equation
  der(phi) = omega;
  der(omega) = -g/L*sin(phi);
end PendulumState;
