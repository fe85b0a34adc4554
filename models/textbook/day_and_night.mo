model DayAndNight "A house over three days, heated by a controller that saturates"
  constant Real pi = 2*asin(1);
  Real Tout, T(start = 18, fixed = true), Tw(start = 12, fixed = true) "walls", P "kW";
equation
  Tout = 5 + 6*cos(2*pi*(time - 15)/24);
  P = min(4, max(0, 2*(20 - T)));
  1.5*der(T) = P - 0.5*(T - Tw) - 0.05*(T - Tout);
  20*der(Tw) = 0.5*(T - Tw) - 0.12*(Tw - Tout);
  annotation(experiment(StopTime = 72));
end DayAndNight;
