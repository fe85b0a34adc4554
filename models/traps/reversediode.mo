model ReverseDiode "A source behind R and L feeds a capacitor through a diode: while it blocks, 1e-14 A tell its voltage"
  parameter Real R = 10, L = 1e-3, C = 1e-5, load = 1000;
  parameter Real Is = 1e-14, Vt = 0.02585;
  Real u, a, k(start = 0, fixed = true), i(start = 0, fixed = true), v;
equation
  u = 5*sin(2000*3.141592653589793*time);
  v = u - R*i;
  L*der(i) = v - a;
  i = Is*(exp((a - k)/Vt) - 1);
  C*der(k) = i - k/load;
  annotation(experiment(StopTime = 0.01));
end ReverseDiode;
