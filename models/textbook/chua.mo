model Chua "Chua's circuit, a short way into chaos"
  parameter Real a = 10, b = 14.87, m0 = -1.27, m1 = -0.68;
  Real x(start = 0.1), y(start = 0), z(start = 0), h;
equation
  h = m1*x + 0.5*(m0 - m1)*(abs(x + 1) - abs(x - 1));
  der(x) = a*(y - x - h);
  der(y) = x - y + z;
  der(z) = -b*y;
  annotation(experiment(StopTime = 5));
end Chua;
