model BouncingBall "A ball dropped on a floor; every impact keeps a part of its speed"
  parameter Real g(unit = "m/s2") = 9.81 "gravity";
  parameter Real e(unit = "1", min = 0, max = 1) = 0.8 "speed after an impact against before";
  parameter Real h0(unit = "m", min = 0) = 1 "height at the start";
  Real h(unit = "m", start = h0, fixed = true) "height above the floor";
  Real v(unit = "m/s", start = 0, fixed = true) "velocity, upwards";
  discrete Integer bounces(start = 0, fixed = true) "impacts so far";
equation
  der(h) = v;
  der(v) = -g;
  when h <= 0 then
    reinit(v, -e*pre(v));
    bounces = pre(bounces) + 1;
  end when;
  annotation(experiment(StartTime = 0, StopTime = 3, Tolerance = 1e-7));
end BouncingBall;
