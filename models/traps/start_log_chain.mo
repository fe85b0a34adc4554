model start_log_chain "definitions with logs, roots and divisions, none of which is defined at 0"
  Real x(start = 1, fixed = true), a, b, c, d, e;
equation
  der(x) = -e*x;
  e = 1/(1 + d);
  d = 1/c;
  c = log(b)/a;
  b = 2 + sqrt(a);
  a = x^2 + 3;
  annotation(experiment(StopTime = 1));
end start_log_chain;
