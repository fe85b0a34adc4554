model CommonSource "Amplifier with a MOSFET that passes cut-off, saturation and triode region"
  parameter Real k = 2e-3 "A/V2", Vth = 1.5, Rd = 3e3, Vdd = 10;
  Real vgs, vds(start = 5), id;
equation
  vgs = 2.5 + 1.5*sin(2*3.14159265358979*time);
  id = if vgs < Vth then 0
       elseif vds < vgs - Vth then k*((vgs - Vth)*vds - vds^2/2)
       else k/2*(vgs - Vth)^2;
  Vdd = vds + Rd*id;
  annotation(experiment(StopTime = 1.5));
end CommonSource;
