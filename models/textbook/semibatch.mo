model SemiBatch "B is fed to a reactor with A until it is full"
  parameter Real k = 0.02 "l/(mol min)", qf = 2 "l/min", cBf = 4 "mol/l";
  Real V(start = 50, fixed = true) "l", nA(start = 100, fixed = true), nB(start = 0, fixed = true) "mol";
  Real cA, cB, r;
  Boolean feeding(start = true, fixed = true);
equation
  cA = nA/V;
  cB = nB/V;
  r = k*cA*cB*V;
  der(V) = if feeding then qf else 0;
  der(nA) = -r;
  der(nB) = -r + (if feeding then qf*cBf else 0);
  when V > 70 then
    feeding = false;
  end when;
  annotation(experiment(StopTime = 50));
end SemiBatch;
