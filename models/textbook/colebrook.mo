model Colebrook "Friction factor of a pipe by Colebrook's equation while the flow is throttled"
  parameter Real D = 0.1, k = 5e-5, nu = 1e-6, L = 50, g = 9.81;
  Real v, Re, f(start = 0.02), dh;
equation
  v = 3 - 0.25*time;
  Re = v*D/nu;
  1/sqrt(f) = -2*log10(k/(3.7*D) + 2.51/(Re*sqrt(f)));
  dh = f*L/D*v^2/(2*g);
  annotation(experiment(StopTime = 10));
end Colebrook;
