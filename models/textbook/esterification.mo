model Esterification "A reversible reaction in moles that ends at its equilibrium"
  parameter Real k = 0.1, K = 4;
  Real n[4](start = {1, 1.5, 0, 0}, each fixed = true) "acid, alcohol, ester, water";
  parameter Integer nu[4] = {-1, -1, 1, 1};
  Real r;
equation
  r = k*(n[1]*n[2] - n[3]*n[4]/K);
  for i in 1:4 loop
    der(n[i]) = nu[i]*r;
  end for;
  annotation(experiment(StopTime = 40));
end Esterification;
