model String "a string that swings: u'' + k u = 0, held at both ends"
  parameter Real k = 8;
  Real u(start = 0, fixed = true);
  Real v(start = 1, fixed = true) "its size is free: this slope fixes it";
equation
  der(u) = v;
  der(v) = -k*u;
  annotation(experiment(StopTime = 1));
end String;
