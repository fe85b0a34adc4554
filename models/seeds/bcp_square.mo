// y^2 = t, section 2.5 of Brenan, Campbell and Petzold: index 1 on either side of y = 0, which the
// start value chooses.
model Square
  parameter Real guess = 1;
  Real y(start = guess);
equation
  y^2 = time;
  annotation(experiment(StartTime = 1, StopTime = 4));
end Square;
