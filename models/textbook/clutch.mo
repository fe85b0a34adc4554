model Clutch "A clutch slips until both sides turn alike, then it is locked"
  parameter Real J1 = 0.3, J2 = 1.2, Tc = 40 "Nm, of the slipping clutch";
  Real w1(start = 200, fixed = true), w2(start = 0, fixed = true), T;
  Boolean locked(start = false, fixed = true);
equation
  J1*der(w1) = 20 - T;
  J2*der(w2) = T - 0.05*w2;
  T = if locked then (20*J2 + 0.05*w2*J1)/(J1 + J2) else Tc;
  when w1 <= w2 then
    locked = true;
  end when;
  annotation(experiment(StopTime = 5));
end Clutch;
