model RingOscillator "Three inverters in a ring, each a transistor with a resistor and a capacitor"
  parameter Real R = 10 "kOhm", C = 0.1 "pF", k = 0.5 "mA/V2", Vth = 1, Vdd = 5;
  Real v[3](start = {0, 3, 5}, each fixed = true), i[3] "mA";
equation
  for j in 1:3 loop
    i[j] = k/2*max(0, v[if j == 1 then 3 else j - 1] - Vth)^2*tanh(v[j]);
    C*der(v[j]) = (Vdd - v[j])/R - i[j];
  end for;
  annotation(experiment(StopTime = 15));
end RingOscillator;
