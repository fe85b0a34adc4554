model Clipper "Two antiparallel diodes cut the tops of a sine"
  parameter Real R = 2.2 "kOhm";
  parameter Real Is = 2.5e-6 "mA", Vt = 0.0258 "V", n = 1.75;
  Real vin, vout, i "mA";
equation
  vin = 5*sin(2*3.14159265358979*time) + 1*sin(6*3.14159265358979*time);
  vin = R*i + vout;
  i = Is*(exp(vout/(n*Vt)) - 1) - Is*(exp(-vout/(n*Vt)) - 1);
  annotation(experiment(StopTime = 3));
end Clipper;
