// The five equations of a pendulum in combinations that are products of residuals: pivots of the
// structure are factors that vanish wherever the equations hold. lambda = -3 y.
model Mixed "A pendulum in unstructured form"
  Real x(start = 1), y(start = 0), u(start = 0), v(start = 0), lambda;
  Real f[5];
equation
  f[1] = der(x) - u;
  f[2] = der(y) - v;
  f[3] = der(u) + x*lambda;
  f[4] = der(v) + 1 + y*lambda;
  f[5] = x^2 + y^2 - 1;
  0 = f[1] + f[5] + f[3]*y;
  0 = f[2] - f[5]*x + f[4];
  0 = f[3] + f[5] - 2*f[1];
  0 = f[4] + f[1]*u - f[5];
  0 = f[5] + f[1]*f[2] + f[3] + f[4];
end Mixed;
