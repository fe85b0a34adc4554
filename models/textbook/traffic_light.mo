model TrafficLight "A traffic light as a machine with four states, and the cars that wait"
  type Light = enumeration(red, redYellow, green, yellow);
  Light light(start = Light.red, fixed = true);
  discrete Real since(start = 0, fixed = true);
  Real cars(start = 0, fixed = true), out "cars per second that leave";
  parameter Real duration[Light] = {20, 2, 25, 3};
algorithm
  when time >= since + duration[light] then
    if light == Light.red then
      light := Light.redYellow;
    elseif light == Light.redYellow then
      light := Light.green;
    elseif light == Light.green then
      light := Light.yellow;
    else
      light := Light.red;
    end if;
    since := time;
  end when;
equation
  out = if light == Light.green then (if cars > 0 then 0.5 else 0.2) else 0;
  der(cars) = 0.2 - out;
  annotation(experiment(StopTime = 100));
end TrafficLight;
