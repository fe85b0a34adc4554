model Collision "Two gliders on an air track meet, and the ends of the track"
  parameter Real m1 = 0.2, m2 = 0.5, e = 0.9;
  Real x1(start = 0, fixed = true), v1(start = 0.8, fixed = true);
  Real x2(start = 1, fixed = true), v2(start = 0, fixed = true);
equation
  der(x1) = v1;
  der(v1) = 0;
  der(x2) = v2;
  der(v2) = 0;
  when x1 >= x2 then
    reinit(v1, (m1*pre(v1) + m2*pre(v2) - m2*e*(pre(v1) - pre(v2)))/(m1 + m2));
    reinit(v2, (m1*pre(v1) + m2*pre(v2) + m1*e*(pre(v1) - pre(v2)))/(m1 + m2));
  elsewhen x2 >= 2 then
    reinit(v2, -pre(v2));
  elsewhen x1 <= -0.5 then
    reinit(v1, -pre(v1));
  end when;
  annotation(experiment(StopTime = 6));
end Collision;
