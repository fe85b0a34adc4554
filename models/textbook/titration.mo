model Titration "Titration of acetic acid with sodium hydroxide: the pH"
  parameter Real Ka = 1.8e-5, Kw = 1e-14, ca = 0.1, cb = 0.1, Va = 25 "ml";
  Real Vb "ml, added", pH(start = 3), H, OH, Ac, Na;
equation
  Vb = time;
  H = 10^(-pH);
  OH = Kw/H;
  Ac = ca*Va/(Va + Vb)*Ka/(Ka + H);
  Na = cb*Vb/(Va + Vb);
  Na + H = Ac + OH "no net charge";
  annotation(experiment(StopTime = 50));
end Titration;
