model Latch "Two inverters that hold each other: a pulse sets the latch"
  function inverter "output that a logic level drives to"
    input Real u;
    output Real y;
  algorithm
    y := 5/(1 + (u/2.2)^6);
  end inverter;
  Real q(start = 0.1, fixed = true), nq(start = 4.9, fixed = true), set;
equation
  set = if time > 20 and time < 23 then 5 else 0;
  2*der(q) = inverter(nq) - q + 3*set;
  2*der(nq) = inverter(q) - nq;
  annotation(experiment(StopTime = 50));
end Latch;
