model NoFold "a body on a circle with large terms that cancel: steps fail by rounding, far from the end of any branch"
  Real x(start = 0.6), vx(start = 0.5), z(start = -0.8), vz;
  Real l(nominal = 5000);
equation
  der(x) = vx;
  der(z) = vz;
  der(vx) + 5500*x + 200*vx - 2*l*x = 5500*x + 200*vx;
  der(vz) + 5500*z + 200*vz - 2*l*z = 5500*z + 200*vz;
  x^2 + z^2 = 1;
  annotation(experiment(StopTime = 1));
end NoFold;
