model start_reluctance "1/g with g about 1e-7 in a chain; v(0) = 600*600*g"
  Real g, r, mu, phi, i, v;
equation
  g = 1.25663706212e-6*mu*7.853981633974483e-5/1e-3;
  mu = 1.0 + 0.1*phi;
  r = 1/g;
  600*i = phi*r;
  i = sin(time);
  v = 600*der(phi);
  annotation(experiment(StopTime = 1));
end start_reluctance;
