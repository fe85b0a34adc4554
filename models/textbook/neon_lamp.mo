model NeonLamp "A neon lamp flashes at a capacitor: it ignites at 90 V and goes out at 60 V"
  Real v(start = 0, fixed = true);
  Boolean lit(start = false, fixed = true);
  Integer flashes(start = 0, fixed = true);
equation
  lit = if pre(lit) then v > 60 else v > 90;
  1e-6*der(v) = (150 - v)/1e6 - (if lit then (v - 50)/5e3 else 0);
  when lit then
    flashes = pre(flashes) + 1;
  end when;
  annotation(experiment(StopTime = 4));
end NeonLamp;
