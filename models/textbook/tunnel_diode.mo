model VanDerPol "Oscillator with a tunnel diode (van der Pol)"
  parameter Real L = 1, C = 1, mu = 2;
  Real u(start = 0.5), i(start = 0), id;
equation
  id = mu*(u^3/3 - u);
  C*der(u) = -i - id;
  L*der(i) = u;
  annotation(experiment(StopTime = 15));
end VanDerPol;
