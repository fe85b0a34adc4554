model WallLayers "Wall of brick, insulation and plaster on a cold night"
  parameter Real k[4] = {25, 0.4, 0.5, 8} "W/(m2 K), between the layers";
  parameter Real C[3] = {300e3, 5e3, 30e3} "J/(m2 K)";
  Real T[3](each start = 15, each fixed = true) "degC";
  Real q[4] "W/m2, from outside to inside";
equation
  q[1] = k[1]*(-5 - T[1]);
  for j in 2:3 loop
    q[j] = k[j]*(T[j - 1] - T[j]);
  end for;
  q[4] = k[4]*(T[3] - 21);
  for j in 1:3 loop
    C[j]*der(T[j]) = q[j] - q[j + 1];
  end for;
  annotation(experiment(StopTime = 43200));
end WallLayers;
