model Autocatalysis "A slow start, a fast step, a faster one: autocatalysis after Robertson"
  parameter Real k1 = 0.04, k2 = 1e4, k3 = 3e7;
  Real y1(start = 1), y2(start = 0), y3(start = 0);
equation
  der(y1) = -k1*y1 + k2*y2*y3;
  der(y2) = k1*y1 - k2*y2*y3 - k3*y2^2;
  y1 + y2 + y3 = 1;
  annotation(experiment(StopTime = 100));
end Autocatalysis;
