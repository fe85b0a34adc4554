model OscillatorControl "Van der Pol's oscillator, to be brought to rest by a bounded force"
  input Real u(min = -0.3, max = 1);
  Real x1(start = 0, fixed = true);
  Real x2(start = 1, fixed = true);
equation
  der(x1) = (1 - x2^2)*x1 - x2 + u;
  der(x2) = x1;
  annotation(experiment(StopTime = 5));
end OscillatorControl;
