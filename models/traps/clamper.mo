// While the diode conducts nothing but its exponential holds vo: an iterate of Newton's method that overshoots has derivatives of 1e20.
model clamper "A clamper under an amplitude that is modulated: no resistor in series with the diode"
  Real vs;
  Real vc(start = 0, fixed = true);
  Real id;
  Real vo;
equation
  1e-06*der(vc) = -id + vo/10000;
  vo = vs - vc;
  id = 1e-12*(exp(-vo/0.0259) - 1);
  vs = 8*sin(6283.18*time)*(1 + 0.9*sin(125.664*time));
  annotation(experiment(StopTime = 0.01));
end clamper;
