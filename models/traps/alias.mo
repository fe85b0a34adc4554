model Alias "Steps that are multiples of the forcing's period see a constant"
  constant Real w = 402.1238596594935 "2 pi 64";
  Real x(start = 0, fixed = true);
equation
  der(x) = 1 + cos(w*time);
  annotation(experiment(StopTime = 0.3));
end Alias;
