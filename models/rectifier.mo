model Rectifier "Half-wave rectifier: an ideal diode between a source and a resistive load"
  constant Real pi = 2*asin(1.0);
  parameter Real amplitude(unit = "V") = 10 "of the source";
  parameter Real frequency(unit = "Hz") = 50 "of the source";
  parameter Real phase(unit = "rad") = pi/6 "of the source at time 0";
  parameter Real Rs(unit = "Ohm") = 1 "inside the source";
  parameter Real RL(unit = "Ohm") = 4 "load";
  Real e(unit = "V") "voltage of the source";
  Real u(unit = "V") "across the diode";
  Real i(unit = "A") "through diode and load";
  Real Q(unit = "C", start = 0, fixed = true) "charge delivered";
  Real W(unit = "J", start = 0, fixed = true) "heat in the load";
  Boolean conducting(start = true, fixed = true) "state of the diode";
equation
  e = amplitude*sin(2*pi*frequency*time + phase);
  e = u + (Rs + RL)*i "mesh";
  conducting = if pre(conducting) then i >= 0 else u > 0;
  if conducting then
    u = 0;
  else
    i = 0;
  end if;
  der(Q) = i;
  der(W) = RL*i^2;
  annotation(experiment(StartTime = 0, StopTime = 0.05, Tolerance = 1e-7));
end Rectifier;
