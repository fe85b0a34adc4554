model OvenTimer "An oven that is on for 6 of 10 minutes"
  Boolean on(start = false, fixed = true);
  Real T(start = 20, fixed = true), Tfood(start = 20, fixed = true);
equation
  when {sample(0, 10), sample(6, 10)} then
    on = not pre(on);
  end when;
  der(T) = (if on then 40 else 0) - 0.12*(T - 20) - 0.02*(T - Tfood);
  der(Tfood) = 0.03*(T - Tfood);
  annotation(experiment(StopTime = 60));
end OvenTimer;
