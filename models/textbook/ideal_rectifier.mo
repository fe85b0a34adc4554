model IdealRectifier "Half-wave rectifier with an ideal diode and a capacitor"
  parameter Real R = 100, Rs = 0.5, C = 1e-3;
  Real s "along the characteristic of the diode";
  Real vd, id;
  Real vc(start = 0, fixed = true);
  Boolean off;
equation
  off = s < 0;
  vd = if off then s else 0;
  id = if off then 0 else s;
  20*sin(100*3.14159265358979*time) = Rs*id + vd + vc;
  C*der(vc) = id - vc/R;
  annotation(experiment(StopTime = 0.06));
end IdealRectifier;
