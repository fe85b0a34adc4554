model start_restart "an event whose restart has a singular Jacobian: v = 0 before, v^2 = 2 g h after"
  Real h(start = 1, fixed = true), v;
equation
  der(h) = -0.1*v;
  (if time < 0.5 then v else v^2 - 19.62*h) = 0;
  annotation(experiment(StopTime = 1));
end start_restart;
