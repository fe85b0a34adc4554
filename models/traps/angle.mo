model Angle "a relation of an angle: true from 0.5 on, and false again where the angle jumps from pi to -pi"
  Real x(start = 1, fixed = true), y(start = 0, fixed = true), c(start = 0, fixed = true);
equation
  der(x) = -y;
  der(y) = x;
  der(c) = if atan2(y, x) > 0.5 then 1 else 0;
  annotation(experiment(StopTime = 5));
end Angle;
