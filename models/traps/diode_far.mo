// As the source falls, predictions lie where exp is larger by tens of powers of ten than it is at the solution.
model DiodeFar "a diode in series with 1 kOhm"
  Real v, i;
equation
  i = 1e-14*(exp(v/0.025) - 1);
  v + 1e3*i = 5*sin(time);
  annotation(experiment(StopTime = 20));
end DiodeFar;
