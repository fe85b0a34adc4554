model DistrictHeating "Hot water takes five minutes through a pipe to a cold house"
  Real Tplant, Tin, T(start = 10, fixed = true) "in the house";
equation
  Tplant = if time < 10 then 40 else 80 "time in min";
  Tin = delay(Tplant, 5);
  30*der(T) = 0.5*(Tin - T) - 0.3*(T - 0);
  annotation(experiment(StopTime = 60));
end DistrictHeating;
