model PendulumAngle "Pendulum that starts at 120 degrees"
  parameter Real g = 9.81, L = 0.5;
  Real phi(start = 2.0943951023931953, fixed = true) "rad";
  Real omega(start = 0, fixed = true);
equation
  der(phi) = omega;
  L*der(omega) = -g*sin(phi);
  annotation(experiment(StopTime = 5));
end PendulumAngle;
