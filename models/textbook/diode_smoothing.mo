model SmoothedRectifier "Half-wave rectifier with a smoothing capacitor"
  parameter Real Is = 1e-9, Vt = 0.026 "diode";
  parameter Real Rs = 1 "Ohm, of the transformer";
  parameter Real RL = 1000, C = 100e-6;
  Real vs, vd, id;
  Real vc(start = 0, fixed = true) "output";
equation
  vs = 10*sin(314.159265358979*time);
  vs = Rs*id + vd + vc;
  id = Is*(exp(vd/Vt) - 1);
  C*der(vc) = id - vc/RL;
  annotation(experiment(StopTime = 0.1));
end SmoothedRectifier;
