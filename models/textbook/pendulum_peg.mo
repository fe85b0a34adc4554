model PendulumPeg "A pendulum whose thread catches a peg below its pivot"
  parameter Real L = 1, d = 0.6 "of the peg below the pivot", g = 9.81;
  Real phi(start = 0.6, fixed = true), w(start = 0, fixed = true), l;
  Boolean short;
equation
  short = phi < 0;
  l = if short then L - d else L;
  der(phi) = w;
  l*der(w) = -g*sin(phi);
  when phi < 0 then
    reinit(w, pre(w)*L/(L - d));
  elsewhen phi > 0 then
    reinit(w, pre(w)*(L - d)/L);
  end when;
  annotation(experiment(StopTime = 5));
end PendulumPeg;
