model ZenoTank "water tank: inflow 0.75 switches between two tanks that both leak 0.5; the switch accumulates at t = 2"
  Real x1(start = 0.5, fixed = true), x2(start = 0.5, fixed = true);
  Boolean first(start = true, fixed = true);
equation
  der(x1) = (if first then 0.75 else 0) - 0.5;
  der(x2) = (if first then 0 else 0.75) - 0.5;
  when x2 <= 0 then
    first = false;
  elsewhen x1 <= 0 then
    first = true;
  end when;
  annotation(experiment(StopTime = 5));
end ZenoTank;
