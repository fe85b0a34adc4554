model SummingAmplifier "Amplifier for three signals whose output is limited by its supply"
  parameter Real R[3] = {10, 22, 47} "kOhm";
  parameter Real Rf = 100 "kOhm";
  parameter Real Vcc = 12;
  Real u[3], ideal, vout;
  Real heard(start = 0, fixed = true) "mean of the square, summed";
equation
  u = {sin(time), 0.8*cos(1.7*time), 1};
  ideal = -Rf*sum(u[k]/R[k] for k in 1:3);
  vout = max(-Vcc, min(Vcc, ideal));
  der(heard) = vout^2;
  annotation(experiment(StopTime = 10));
end SummingAmplifier;
