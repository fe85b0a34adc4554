model SEIRLockdown "An epidemic with contacts that are restricted when many are ill"
  parameter Real N = 1, beta0 = 0.5, sigma = 0.2, gamma = 0.1;
  Real S(start = 0.999), E(start = 0.001), I(start = 0), R(start = 0), beta;
  Boolean lockdown(start = false, fixed = true);
  discrete Integer count(start = 0, fixed = true);
equation
  beta = if lockdown then 0.15*beta0 else beta0;
  der(S) = -beta*S*I/N;
  der(E) = beta*S*I/N - sigma*E;
  der(I) = sigma*E - gamma*I;
  der(R) = gamma*I;
  when I > 0.05 then
    lockdown = true;
    count = pre(count) + 1;
  elsewhen I < 0.02 then
    lockdown = false;
    count = pre(count);
  end when;
  annotation(experiment(StopTime = 120));
end SEIRLockdown;
