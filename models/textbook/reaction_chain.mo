model ReactionChain "A reacts to B and B to C in a batch"
  parameter Real k1 = 0.8 "1/h", k2 = 0.3 "1/h";
  Real cA(start = 2, fixed = true) "mol/l", cB(start = 0, fixed = true), cC;
equation
  der(cA) = -k1*cA;
  der(cB) = k1*cA - k2*cB;
  cA + cB + cC = 2;
  annotation(experiment(StopTime = 10));
end ReactionChain;
