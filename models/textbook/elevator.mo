model Elevator "An elevator drives to the third floor with limited speed and acceleration"
  parameter Real target = 9.6, vmax = 1.5, a = 0.8;
  Real z(start = 0, fixed = true), v(start = 0, fixed = true);
  Integer phase(start = 1, fixed = true);
equation
  der(z) = v;
  der(v) = if phase == 1 then a elseif phase == 3 then -a else 0;
  when v >= vmax then
    phase = 2;
  elsewhen z >= target - vmax^2/(2*a) then
    phase = 3;
  elsewhen v <= 0 and pre(phase) == 3 then
    phase = 4;
  end when;
  annotation(experiment(StopTime = 12));
end Elevator;
