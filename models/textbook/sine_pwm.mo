model SinePWM "Inverter: a sine is compared with a triangle; motor winding as load"
  Real carrier, reference, i(start = 0, fixed = true), x;
  Boolean up;
equation
  x = mod(1000*time, 1);
  carrier = 4*abs(x - 0.5) - 1;
  reference = 0.8*sin(2*3.14159265358979*50*time);
  up = reference > carrier;
  5e-3*der(i) = (if up then 200 else -200) - 8*i;
  annotation(experiment(StopTime = 0.02));
end SinePWM;
