// x = |t - 1/2| - 1/2: the factor jumps from -1 to 1 and is not zero anywhere.
model JumpingFactor "The factor of a derivative that changes its sign by a jump"
  Real x(start = 0, fixed = true);
equation
  noEvent(if time < 0.5 then -1.0 else 1.0)*der(x) = 1;
end JumpingFactor;
