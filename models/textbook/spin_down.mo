model SpinDown "A grinding wheel runs down by dry and viscous friction and stops"
  Real w(start = 150, fixed = true) "rad/s", turns(start = 0, fixed = true);
equation
  0.02*der(w) = -0.001*w - 0.05*tanh(w/0.1);
  der(turns) = w/6.28318530717959;
  annotation(experiment(StopTime = 40));
end SpinDown;
