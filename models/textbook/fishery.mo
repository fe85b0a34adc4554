model Fishery "A pond of fish, whose catch is stopped when few are left"
  parameter Real r = 0.8 "1/year", K = 1000, catch = 250 "a year";
  Real fish(start = 900, fixed = true);
  Boolean allowed(start = true, fixed = true);
equation
  der(fish) = r*fish*(1 - fish/K) - (if allowed then catch else 0);
  when fish < 300 then
    allowed = false;
  elsewhen fish > 700 then
    allowed = true;
  end when;
  annotation(experiment(StopTime = 25));
end Fishery;
