model Clamper "A capacitor and a diode lift a sine above zero"
  parameter Real C = 1e-6 "F", R = 100e3 "Ohm", Rg = 100 "Ohm, of the generator";
  Real vc(start = 0, fixed = true) "across the capacitor";
  Real vo "output";
  Real ig, id, ir;
equation
  5*sin(2*3.14159265358979*1000*time) = Rg*ig + vc + vo;
  C*der(vc) = ig;
  ir = vo/R;
  id = 1e-9*(exp(-vo/0.04) - 1) "the diode points from ground to the output";
  ig = ir - id;
  annotation(experiment(StopTime = 5e-3));
end Clamper;
