model Bridge "Full-wave bridge of four diodes with a smoothed load"
  // the negative end of the load is ground, so that the source floats
  function diode "current of a diode in A, u in V"
    input Real u;
    output Real i;
  algorithm
    i := 1e-9*(exp(u/0.025) - 1);
  end diode;
  parameter Real R = 500, C = 47e-6;
  Real va, vb "ends of the source";
  Real i1, i2, i3, i4 "through the diodes";
  Real is "through the source";
  Real v(start = 0, fixed = true) "load";
equation
  va - vb = 12*sin(314.159265358979*time);
  i1 = diode(va - v);
  i2 = diode(vb - v);
  i3 = diode(-va);
  i4 = diode(-vb);
  is + i3 = i1;
  i4 = is + i2;
  C*der(v) = i1 + i2 - v/R;
  annotation(experiment(StopTime = 0.05));
end Bridge;
