model Dimmer "PWM of an LED: a sawtooth is compared with a brightness that is turned up"
  parameter Real T = 1e-3 "s, period of the sawtooth";
  Real saw, duty;
  Boolean on;
  Real i(start = 0, fixed = true) "mA, LED behind a coil";
  Real light(start = 0, fixed = true) "mA ms, sum of the current";
equation
  saw = mod(time, T)/T;
  duty = 0.2 + 30*time;
  on = saw < duty;
  der(i) = ((if on then 20 else 0) - i)/2e-4;
  der(light) = 1000*i;
  annotation(experiment(StopTime = 0.02));
end Dimmer;
