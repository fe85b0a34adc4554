model FloatValve "A float closes the valve of a cistern that is flushed twice"
  Real h(start = 0.3, fixed = true) "m", opening, qin "l/s", qout "l/s";
equation
  opening = max(0, min(1, (0.3 - h)/0.05));
  qin = 0.2*opening;
  qout = if time > 10 and time < 15 then 1 elseif time > 80 and time < 84 then 1 else 0;
  40*der(h) = qin - qout;
  annotation(experiment(StopTime = 150));
end FloatValve;
