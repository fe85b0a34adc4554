model Relays "Relays in a row: each charges a capacitor that switches the next one"
  parameter Integer n(min = 2) = 10 "relays";
  parameter Real low(unit = "V") = 0.3 "a relay opens here";
  parameter Real high(unit = "V") = 0.7 "and closes here";
  parameter Real tau[n](each unit = "s") = {if i == 1 then 1 else 0.5 - 0.2*i/n for i in 1:n};
  Real x[n](each unit = "V", each start = 0, each fixed = true) "at the coils";
  Boolean on[n](each start = false, each fixed = true) "closed";
equation
  tau[1]*der(x[1]) = (if on[1] then 0 else 1) - x[1] "the first one drives itself";
  for i in 2:n loop
    tau[i]*der(x[i]) = (if on[i - 1] then 1 else 0) - x[i];
  end for;
  for i in 1:n loop
    when x[i] >= high then
      on[i] = true;
    elsewhen x[i] <= low then
      on[i] = false;
    end when;
  end for;
  annotation(experiment(StartTime = 0, StopTime = 5, Tolerance = 1e-7));
end Relays;
