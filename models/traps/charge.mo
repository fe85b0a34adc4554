model Charge "1e-13 C on 20 fF, which 50 kOhm take away: exp(-t/1e-9)"
  parameter Real C = 2e-14, R = 5e4;
  Real q(start = 1e-13, fixed = true), u(start = 5), i;
equation
  q = C*u;
  der(q) = -i;
  u = R*i;
  annotation(experiment(StopTime = 5e-9));
end Charge;
