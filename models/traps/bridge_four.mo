model BridgeFour "four ideal diodes in parametric form feed a resistor and a capacitor from a sine through a resistor"
  parameter Real R = 10, Rs = 0.1, C = 1e-3;
  Real u "source", is "its current", va, vb "terminals of the bridge", vc(start = 0, fixed = true);
  Real s1, s2, s3, s4, i1, i2, i3, i4, v1, v2, v3, v4;
  Boolean off1(start = true), off2(start = true), off3(start = true), off4(start = true);
equation
  u = 10*sin(314.159265358979*time);
  off1 = s1 < 0;
  v1 = s1*(if off1 then 1 else 0);
  i1 = s1*(if off1 then 0 else 1);
  off2 = s2 < 0;
  v2 = s2*(if off2 then 1 else 0);
  i2 = s2*(if off2 then 0 else 1);
  off3 = s3 < 0;
  v3 = s3*(if off3 then 1 else 0);
  i3 = s3*(if off3 then 0 else 1);
  off4 = s4 < 0;
  v4 = s4*(if off4 then 1 else 0);
  i4 = s4*(if off4 then 0 else 1);
  u - Rs*is = va - vb;
  v1 = va - vc "a to plus";
  v2 = 0 - va "minus to a";
  v3 = vb - vc "b to plus";
  v4 = 0 - vb "minus to b";
  is = i1 - i2;
  is = i4 - i3;
  C*der(vc) = i1 + i3 - vc/R;
  annotation(experiment(StopTime = 0.04));
end BridgeFour;
