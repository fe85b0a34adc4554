model RoomThermostat "A thermostat with hysteresis; times in hours"
  parameter Real tau = 4 "h", Tout = 3, dTheat = 30;
  Real T(start = 17, fixed = true);
  Boolean on(start = true, fixed = true);
  Real used(start = 0, fixed = true) "h of heating";
algorithm
  when T < 19 then
    on := true;
  elsewhen T > 21 then
    on := false;
  end when;
equation
  tau*der(T) = Tout - T + (if on then dTheat else 0);
  der(used) = if on then 1 else 0;
  annotation(experiment(StopTime = 12));
end RoomThermostat;
