model SurgeTank "A valve closes and the water in the pressure tunnel swings (surge tank)"
  parameter Real L = 1000, A = 10, As = 60, g = 9.81, f = 0.012;
  Real v(start = 2, fixed = true) "m/s, in the tunnel", z(start = -2.4, fixed = true) "m, in the tank", q;
equation
  q = if time < 20 then 20*(1 - time/20) else 0;
  L/g*der(v) = -z - 0.6*v*abs(v);
  As*der(z) = A*v - q;
  annotation(experiment(StopTime = 600));
end SurgeTank;
