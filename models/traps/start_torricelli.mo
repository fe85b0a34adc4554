model start_torricelli "outflow of a tank: the guess v = 0 makes the Jacobian singular, h is fixed"
  Real h(start = 1, fixed = true), v;
equation
  der(h) = -0.1*v;
  v^2 = 2*9.81*h;
  annotation(experiment(StopTime = 1));
end start_torricelli;
