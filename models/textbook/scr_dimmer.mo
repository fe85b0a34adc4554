model ThyristorDimmer "A thyristor is fired late in each half period; load with a coil"
  parameter Real R = 50, L = 0.05, f = 50, alpha = 0.004 "s, delay of the firing";
  Real u, i(start = 0, fixed = true);
  Boolean on(start = false, fixed = true);
equation
  u = 325*abs(sin(2*3.14159265358979*f*time));
  L*der(i) = if on then u - R*i - 1.2 else 0;
  when sample(alpha, 0.01) then
    on = true;
  elsewhen i < 0 then
    on = false;
  end when;
  annotation(experiment(StopTime = 0.06));
end ThyristorDimmer;
