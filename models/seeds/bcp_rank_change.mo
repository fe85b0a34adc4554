// Example 2.4.3 of Brenan, Campbell and Petzold: the leading matrix changes its rank at t = 0. Exact:
// x1 = f1 - phi f2', x2 = f2 - psi f1'.
model RankChange
  Real x1, x2;
  Real f1 = sin(time), f2 = cos(2 * time);
  Real phi = if noEvent(time > 0) then exp(-1 / time) else 0;
  Real psi = if noEvent(time < 0) then exp(1 / time) else 0;
equation
  phi * der(x2) + x1 = f1;
  psi * der(x1) + x2 = f2;
  annotation(experiment(StartTime = -1, StopTime = 1));
end RankChange;
