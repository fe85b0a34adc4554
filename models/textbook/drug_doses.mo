model DrugDoses "A tablet every eight hours: the drug in stomach and blood"
  parameter Real ka = 1.2 "1/h", ke = 0.15, V = 40 "l", dose = 500 "mg";
  Real gut(start = 0, fixed = true) "mg", blood(start = 0, fixed = true) "mg", c "mg/l";
equation
  der(gut) = -ka*gut;
  der(blood) = ka*gut - ke*blood;
  c = blood/V;
  when sample(0, 8) then
    reinit(gut, pre(gut) + dose);
  end when;
  annotation(experiment(StopTime = 50));
end DrugDoses;
