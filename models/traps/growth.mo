model Growth "From 1 to 1e20"
  Real x(start = 1, fixed = true);
equation
  der(x) = 46.0*x;
end Growth;
