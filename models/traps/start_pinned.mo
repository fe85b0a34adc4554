model start_pinned "two conditions for T, and a relation that changes while initial values are sought"
  parameter Real wanted = 5;
  Real T(start = 1, fixed = true);
  Real m(start = 0), p;
initial equation
  T = wanted;
equation
  m^3 = 1;
  p = if m > 0.1 then 2*m else m;
  der(T) = -T;
  annotation(experiment(StopTime = 1));
end start_pinned;
