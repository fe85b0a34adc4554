model MeltingIce "Ice is heated, melts and becomes warm water (by its enthalpy)"
  parameter Real m = 0.5 "kg", P = 300 "W", L = 334e3, ci = 2100, cw = 4190;
  Real H(start = -0.5*2100*20, fixed = true) "J, from ice at 0 degC", T, liquid;
equation
  der(H) = P - 2*(T - 20);
  T = if H < 0 then H/(m*ci) elseif H < m*L then 0 else (H - m*L)/(m*cw);
  liquid = min(1, max(0, H/(m*L)));
  annotation(experiment(StopTime = 1200));
end MeltingIce;
