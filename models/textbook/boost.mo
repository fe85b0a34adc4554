model Boost "Step-up converter with a sampled switch"
  parameter Real Vin = 12, L = 150e-6, C = 100e-6, R = 40;
  parameter Real T = 20e-6, D = 0.6;
  Real iL(start = 0.75, fixed = true), vC(start = 12, fixed = true);
  discrete Real tOn(start = 0, fixed = true);
  Boolean on(start = true, fixed = true);
equation
  when sample(0, T) then
    tOn = time;
  end when;
  on = time < tOn + D*T;
  L*der(iL) = Vin - (if on then 0 else vC);
  C*der(vC) = (if on then 0 else iL) - vC/R;
  annotation(experiment(StopTime = 0.505e-3));
end Boost;
