// [Baese17 (4.1)]: x = sin t, y = cos t, z = 1. The constraint is solved for y before t = pi/4 and
// for x after it. The interval is not that of the thesis, which lies symmetric about pi/4: there
// errors of odd orders cancel.
model BaeseSelector "The algebraic unknown changes on the way, index 2"
  parameter Real t0 = 0.62831853071795865 "where the run starts: 0.2 pi";
  Real x(start = sin(t0), fixed = true), y(start = cos(t0)), z(start = 1);
equation
  der(x) = y;
  der(y) = -sin(time)*z;
  0 = x^2 + y^2 - 1;
  annotation(experiment(StartTime = 0.62831853071795865, StopTime = 1.2566370614359173, Tolerance = 1e-7));
end BaeseSelector;
