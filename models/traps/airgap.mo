// v = 600^2 g cos(t). 1/g is 1e7, its derivative by g 1e14, beside entries of 1.
model Airgap "Reluctance of a small gap: index 2, and no loss of rank"
  parameter Real mu0 = 1.25663706212e-6;
  Real g, r, mu, phi, i, v;
equation
  g = mu0*mu*7.853981633974483e-5/1e-3;
  mu = 1.0;
  r = 1/g;
  600*i = phi*r;
  i = sin(time);
  v = 600*der(phi);
end Airgap;
