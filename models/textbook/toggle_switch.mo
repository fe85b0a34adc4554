model ToggleSwitch "Two genes that suppress each other; a pulse flips them"
  Real u(start = 3, fixed = true), v(start = 0.1, fixed = true), inducer;
equation
  inducer = if time > 10 and time < 20 then 5 else 0;
  der(u) = 4/(1 + v^2) - u*(1 + inducer);
  der(v) = 4/(1 + u^2) - v;
  annotation(experiment(StopTime = 40));
end ToggleSwitch;
