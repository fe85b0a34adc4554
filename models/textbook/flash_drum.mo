model FlashDrum "Flash of benzene and toluene while the drum is heated (Antoine, Raoult)"
  function pressure "vapour pressure in mmHg, T in degC"
    input Real T, A, B, C;
    output Real p;
  algorithm
    p := 10^(A - B/(T + C));
  end pressure;
  parameter Real P = 760, z = 0.5;
  Real T, K1, K2, beta(start = 0.5) "part that is vapour", x, y;
equation
  T = 93 + 0.4*time;
  K1 = pressure(T, 6.90565, 1211.033, 220.79)/P;
  K2 = pressure(T, 6.95464, 1344.8, 219.482)/P;
  z*(K1 - 1)/(1 + beta*(K1 - 1)) + (1 - z)*(K2 - 1)/(1 + beta*(K2 - 1)) = 0 "Rachford and Rice";
  x = z/(1 + beta*(K1 - 1));
  y = K1*x;
  annotation(experiment(StopTime = 10));
end FlashDrum;
