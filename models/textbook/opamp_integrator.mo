model OpAmpIntegrator "Integrator with an ideal operational amplifier"
  parameter Real R = 10e3, C = 0.1e-6;
  Real vin, vminus, vout, i, vc(start = 0, fixed = true);
equation
  vin = 0.5*sin(1000*time) + 0.1;
  vminus = 0 "virtual ground";
  R*i = vin - vminus;
  C*der(vc) = i;
  vout = vminus - vc;
  annotation(experiment(StopTime = 0.02));
end OpAmpIntegrator;
