model LangmuirBatch "Adsorption from a stirred solution; the surface is in equilibrium (Langmuir)"
  parameter Real qmax = 3 "mmol/g", K = 2 "l/mmol", m = 5 "g", V = 1 "l";
  Real total(start = 0, fixed = true) "mmol, added so far";
  Real c(start = 0.1) "mmol/l", q(start = 0.1) "mmol/g";
equation
  der(total) = if time < 20 then 0.8 else 0;
  q = qmax*K*c/(1 + K*c);
  V*c + m*q = total;
  annotation(experiment(StopTime = 30));
end LangmuirBatch;
