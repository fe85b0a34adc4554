model Wheatstone "Wheatstone bridge with a thermistor that warms itself"
  parameter Real R[4] = {1000, 1000, 1200, 0}, U = 10;
  Real T(start = 298.15, fixed = true) "K, thermistor";
  Real RT, i[6], va, vb, bridge "V";
equation
  RT = 1000*exp(3500*(1/T - 1/298.15));
  U - va = R[1]*i[1];
  va = R[3]*i[2];
  U - vb = R[2]*i[3];
  vb = RT*i[4];
  bridge = va - vb;
  i[5] = bridge/5000 "instrument";
  i[1] = i[2] + i[5];
  i[3] + i[5] = i[4];
  i[6] = i[1] + i[3];
  0.05*der(T) = RT*i[4]^2 - 2e-3*(T - 298.15);
  annotation(experiment(StopTime = 60));
end Wheatstone;
