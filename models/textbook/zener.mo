model Zener "Zener diode as a voltage regulator, with ripple and a load that is switched"
  parameter Real Vz = 5.1 "V", Vt = 0.05 "V, how sharp the knee is", Iz = 0.005 "A, at Vz";
  parameter Real Rs = 220 "Ohm";
  Real vin, vout(start = 5), iz, iload, is;
equation
  vin = 12 + 1*sin(2*3.14159265358979*100*time);
  vin = vout + Rs*is;
  is = iz + iload;
  iz = Iz*exp((vout - Vz)/Vt);
  iload = if time > 0.025 then vout/500 else vout/2000;
  annotation(experiment(StopTime = 0.05));
end Zener;
