model Thermostat "A room, heated or not: the heater switches at two temperatures"
  parameter Real C(unit = "J/K") = 5e4 "heat capacity of the room";
  parameter Real G(unit = "W/K") = 50 "heat lost through the walls per degree";
  parameter Real P(unit = "W") = 1500 "power of the heater";
  parameter Real Toutside(unit = "K", displayUnit = "degC") = 283.15;
  parameter Real Tlow(unit = "K", displayUnit = "degC") = 292.15 "switch on here";
  parameter Real Thigh(unit = "K", displayUnit = "degC") = 294.15 "switch off here";
  Real T(unit = "K", displayUnit = "degC", start = 288.15, fixed = true) "temperature of the room";
  Boolean heating(start = true, fixed = true);
  discrete Integer switches(start = 0, fixed = true) "how often the heater was switched";
equation
  C*der(T) = (if heating then P else 0) - G*(T - Toutside);
  when T >= Thigh then
    heating = false;
    switches = pre(switches) + 1;
  elsewhen T <= Tlow then
    heating = true;
    switches = pre(switches) + 1;
  end when;
  annotation(experiment(StartTime = 0, StopTime = 2000, Tolerance = 1e-7));
end Thermostat;
