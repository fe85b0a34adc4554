model Unstructured "pendulum whose five equations are mixed, nonlinearly, so that structure tells nothing"
  Real x(start = 1, fixed = true), y(start = 0), u(start = 0), v(start = 0, fixed = true), lambda;
  Real r[5] "residuals of the pendulum: all of them are zero, and no equation says so";
equation
  r[1] = der(x) - u;
  r[2] = der(y) - v;
  r[3] = der(u) + x*lambda;
  r[4] = der(v) + y*lambda + 1;
  r[5] = x^2 + y^2 - 1;
  0 = r[1] + 0.5*r[5] - 0.3*y*r[4];
  0 = r[2] + 0.4*x*r[3] + 0.3*cos(u)*r[1];
  0 = r[3] - 0.5*r[5] + 0.3*sin(v)*r[2];
  0 = r[4] + 0.4*r[1] + 0.3*x^2*r[5];
  0 = r[5] + 0.3*r[2] - 0.4*r[3] + 0.2*r[4]*cos(time);
  annotation(experiment(StopTime = 10));
end Unstructured;
