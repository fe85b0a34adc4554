model AcosRelation "a relation of an arc cosine of a fast oscillation: 159 pulses of 2*0.01/1000 each"
  Real x(start = 0, fixed = true), c(start = 0, fixed = true);
equation
  der(x) = 1;
  der(c) = if acos(cos(1000*x)) < 0.01 then 1 else 0;
  annotation(experiment(StopTime = 1));
end AcosRelation;
