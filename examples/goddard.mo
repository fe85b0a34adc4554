model Goddard "A rocket that is to climb as high as its fuel allows [Bryson, COPS]"
  parameter Real T = 0.2 "time of the flight, by which time is scaled";
  parameter Real m_end = 0.6 "mass without fuel";
  parameter Real c = 0.5 "speed of the exhaust";
  parameter Real drag = 310;
  input Real u(min = 0, max = 3.5) "thrust";
  Real h(start = 1, fixed = true) "distance from the centre of the earth";
  Real v(start = 0, fixed = true) "speed";
  Real m(start = 1, fixed = true) "mass";
  Real D "drag";
equation
  D = drag*v^2*exp(-500*(h - 1));
  der(h) = T*v;
  der(v) = T*((u - D)/m - 1/h^2);
  der(m) = -T*u/c;
  annotation(experiment(StopTime = 1));
end Goddard;
