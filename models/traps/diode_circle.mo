// With a matrix of where the diode is closed, corrections go to and fro between two values, neither of them a solution.
model DiodeCircle "two nodes, a diode between them"
  Real v1, v3, i3;
equation
  i3 = 1e-15*(exp((v3 - v1)/0.0348) - 1);
  0 = -v1/260 + i3 + (10.5*sin(0.676*time + 1.3583) - v1)/183.5;
  0 = -v3/10443 - i3;
  annotation(experiment(StopTime = 3));
end DiodeCircle;
