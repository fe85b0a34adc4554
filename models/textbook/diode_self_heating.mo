model DiodeSelfHeating "A diode at a current source warms itself, and its voltage falls"
  parameter Real q = 1.602e-19, kB = 1.381e-23, Eg = 1.12 "eV", Rth = 60 "K/W", Cth = 0.05;
  Real T(start = 300, fixed = true) "K", Is, v(start = 0.7), i;
equation
  i = if time < 10 then 1 else 0.2;
  Is = 1e-10*(T/300)^3*exp(q*Eg/kB*(1/300 - 1/T));
  i = Is*(exp(q*v/(1.2*kB*T)) - 1);
  Cth*der(T) = v*i - (T - 300)/Rth;
  annotation(experiment(StopTime = 20));
end DiodeSelfHeating;
