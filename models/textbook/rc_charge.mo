model RCCharge "A capacitor is charged through a resistor"
  parameter Real V0 = 5 "V, battery";
  parameter Real R = 10e3 "Ohm";
  parameter Real C = 47e-6 "F";
  Real v(start = 0, fixed = true) "V, across the capacitor";
  Real i "A, into the capacitor";
equation
  V0 = R*i + v;
  C*der(v) = i;
  annotation(experiment(StopTime = 2));
end RCCharge;
