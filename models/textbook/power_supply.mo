model PowerSupply "Half a second of a power supply: half-wave rectifier, filter with a coil, load that is switched"
  parameter Real Is = 1e-9, Vt = 0.05, Rs = 2, L = 0.05, RL = 100;
  Real u, id, vd, v1(start = 0, fixed = true), iL(start = 0, fixed = true), v2(start = 0, fixed = true);
equation
  u = 24*sin(2*3.14159265358979*50*time);
  u = Rs*id + vd + v1;
  id = Is*(exp(vd/Vt) - 1);
  470e-6*der(v1) = id - iL;
  L*der(iL) = v1 - v2;
  220e-6*der(v2) = iL - (if time > 0.25 then v2/50 else v2/100);
  annotation(experiment(StopTime = 0.5));
end PowerSupply;
