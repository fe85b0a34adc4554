model CraneControl "A trolley carries a load on a rope: equations of index 3"
  parameter Real M(unit = "kg") = 2 "mass of the trolley";
  parameter Real m(unit = "kg") = 1 "mass of the load";
  parameter Real L(unit = "m") = 1 "length of the rope";
  parameter Real g(unit = "m/s2") = 9.81;
  input Real F(unit = "N", min = -10, max = 10) "force on the trolley";
  Real s(start = 0, fixed = true, unit = "m") "place of the trolley";
  Real w(start = 0, fixed = true, unit = "m/s");
  Real x(start = 0, fixed = true, unit = "m") "place of the load";
  Real y(start = -1, unit = "m");
  Real vx(start = 0, fixed = true, unit = "m/s");
  Real vy(start = 0, unit = "m/s");
  Real tension(unit = "N/m") "force of the rope over its length";
equation
  der(s) = w;
  der(x) = vx;
  der(y) = vy;
  M*der(w) = F + tension*(x - s);
  m*der(vx) = -tension*(x - s);
  m*der(vy) = -tension*y - m*g;
  (x - s)^2 + y^2 = L^2;
  annotation(experiment(StopTime = 3));
end CraneControl;
