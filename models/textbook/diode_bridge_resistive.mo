model BridgeR "Full-wave bridge of four diodes with a resistor"
  function diode
    input Real u;
    output Real i;
  algorithm
    i := 1e-9*(exp(u/0.025) - 1);
  end diode;
  parameter Real R = 500;
  Real va, vb, v, is;
equation
  va - vb = 12*sin(314.159265358979*time);
  is + diode(-va) = diode(va - v);
  diode(-vb) = is + diode(vb - v);
  v/R = diode(va - v) + diode(vb - v);
  annotation(experiment(StopTime = 0.05));
end BridgeR;
