model Accumulator "A hydraulic accumulator with nitrogen smooths the strokes of a pump"
  parameter Real V0 = 2 "l", p0 = 60 "bar";
  Real Vgas(start = 1.5, fixed = true), p, qp, qout;
equation
  p*Vgas^1.3 = p0*V0^1.3;
  qp = 0.4*max(0, sin(10*time));
  qout = 0.012*sqrt(p);
  der(Vgas) = qout - qp;
  annotation(experiment(StopTime = 5));
end Accumulator;
