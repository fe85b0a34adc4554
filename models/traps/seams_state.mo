model SeamsState "jumps and kinks of states inside of noEvent: no step may go over them unseen"
  Real s(start = 0, fixed = true), p(start = 0, fixed = true), q(start = 1, fixed = true);
  Real a(start = 0, fixed = true) "a pulse of a five hundredth of the run";
  Real b(start = 0, fixed = true) "kinks", c(start = 0, fixed = true) "a dead band";
equation
  der(s) = 1;
  der(p) = q;
  der(q) = -p;
  der(a) = noEvent(if s > 1.23456 and s < 1.24456 then 100 else 0);
  der(b) = min(p, q);
  der(c) = noEvent(max(p - 0.9, 0));
  annotation(experiment(StopTime = 10));
end SeamsState;
