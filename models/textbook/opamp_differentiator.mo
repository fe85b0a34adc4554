model OpAmpDifferentiator "Differentiator with an ideal operational amplifier, index 2"
  parameter Real R = 10e3, C = 0.1e-6;
  Real vin, vout, i, vc;
equation
  vin = 2*sin(500*time) + cos(3000*time)*exp(-100*time);
  vc = vin "the inverting input is a virtual ground";
  i = C*der(vc);
  vout = -R*i;
  annotation(experiment(StopTime = 0.02));
end OpAmpDifferentiator;
