model RootTime "A right-hand side whose derivative is infinite at the start"
  Real x(start = 0, fixed = true);
equation
  der(x) = sqrt(time);
end RootTime;
