model PhaseShiftOscillator "Three RC sections and a saturated amplifier oscillate"
  parameter Real R = 10e3, C = 10e-9, A = 33;
  Real u[3](start = {0.1, 0, 0}, each fixed = true) "across the capacitors", v[4], i[3];
equation
  v[1] = max(-8, min(8, -A*v[4]));
  for k in 1:3 loop
    u[k] = v[k] - v[k + 1];
    C*der(u[k]) = i[k];
  end for;
  i[1] = v[2]/R + i[2];
  i[2] = v[3]/R + i[3];
  i[3] = v[4]/R;
  annotation(experiment(StopTime = 0.006));
end PhaseShiftOscillator;
