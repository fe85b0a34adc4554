model DualSlope "Dual-slope converter: integrate the input for 20 ms, then count the way back"
  parameter Real Vref = 1, RC = 0.01;
  Real u, x(start = 0, fixed = true);
  Integer phase(start = 1, fixed = true);
  discrete Real t1(start = 0, fixed = true), reading(start = 0, fixed = true);
equation
  u = 0.4 + 0.05*sin(2*3.14159265358979*50*time);
  RC*der(x) = if phase == 1 then u elseif phase == 2 then -Vref else 0;
  when pre(phase) == 1 and time > 0.02 then
    phase = 2;
    t1 = time;
    reading = pre(reading);
  elsewhen pre(phase) == 2 and x < 0 then
    phase = 3;
    t1 = pre(t1);
    reading = (time - pre(t1))/0.02*Vref;
  end when;
  annotation(experiment(StopTime = 0.05));
end DualSlope;
