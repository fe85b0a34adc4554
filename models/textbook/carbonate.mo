model Carbonate "pH of water with carbon dioxide and sodium carbonate that is added"
  parameter Real K1 = 4.5e-7, K2 = 4.7e-11, Kw = 1e-14, CO2 = 1.3e-5 "mol/l, held by the air";
  Real Na, H(start = 1e-6), HCO3, CO3, OH, pH;
equation
  Na = 1e-4*time;
  H*HCO3 = K1*CO2;
  H*CO3 = K2*HCO3;
  H*OH = Kw;
  Na + H = HCO3 + 2*CO3 + OH;
  pH = -log10(H);
  annotation(experiment(StopTime = 10));
end Carbonate;
