model PLL "A phase-locked loop catches a frequency that jumps"
  Real phi(start = 0, fixed = true), x(start = 0, fixed = true), e, w;
equation
  e = sin((if time < 2 then 10.5 else 13)*time - phi + (if time < 2 then 0 else -5));
  der(x) = 8*e;
  w = 10 + x + 4*e;
  der(phi) = w;
  annotation(experiment(StopTime = 6));
end PLL;
