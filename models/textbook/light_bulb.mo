model LightBulb "The filament of a bulb at 230 V: its resistance grows with the temperature"
  parameter Real R20 = 60, a = 4.5e-3, C = 0.02, A = 8e-5*0.35*5.67e-8;
  Real T(start = 293, fixed = true), R, P;
equation
  R = R20*(1 + a*(T - 293));
  P = (325*sin(314.159265358979*time))^2/R;
  C*der(T) = P - A*(T^4 - 293^4);
  annotation(experiment(StopTime = 0.1));
end LightBulb;
