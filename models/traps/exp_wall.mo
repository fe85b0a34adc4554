// A step that fails leaves partial derivatives of inside the wall, where the force is 1e14.
model ExpWall "a ball on a soft wall"
  Real x(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -9.81 + exp(-500*x);
  annotation(experiment(StopTime = 1.3));
end ExpWall;
