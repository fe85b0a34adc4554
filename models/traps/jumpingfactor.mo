// x = |t - 1/2| - 1/2: the factor jumps from -1 to 1 and is not zero anywhere.
model JumpingFactor "The factor of a derivative that changes its sign at an event"
  Real x(start = 0, fixed = true);
equation
  (if time < 0.5 then -1.0 else 1.0)*(1 + x^2)*der(x) = 1 + x^2;
end JumpingFactor;
