model CoolingFin "Temperatures along a fin while its base warms up"
  constant Integer n = 10;
  parameter Real k = 2, h = 0.05;
  Real T[n](each start = 20), base(start = 20, fixed = true);
equation
  10*der(base) = 60 - 2*(base - T[1]) - 0.1*(base - 20);
  0 = k*(base - 2*T[1] + T[2]) - h*(T[1] - 20);
  for i in 2:n - 1 loop
    0 = k*(T[i - 1] - 2*T[i] + T[i + 1]) - h*(T[i] - 20);
  end for;
  0 = k*(T[n - 1] - T[n]) - h*(T[n] - 20);
  annotation(experiment(StopTime = 100));
end CoolingFin;
