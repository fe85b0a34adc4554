model EmitterFollower "Emitter follower: the output follows the input a diode drop below"
  parameter Real Is = 1e-15, Vt = 0.025, beta = 100;
  parameter Real RE = 1e3, RB = 10e3, VCC = 10;
  Real vin, vb, vbe, vout, ib;
equation
  vin = 5 + 3*sin(6.28318530717959*time);
  vin - vb = RB*ib;
  ib = Is/beta*(exp(vbe/Vt) - 1);
  vbe = vb - vout;
  vout = RE*(beta + 1)*ib;
  annotation(experiment(StopTime = 2));
end EmitterFollower;
