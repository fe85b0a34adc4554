model Schmitt2 "relaxation oscillator"
  Real c(start = 0, fixed = true), vin, out(start = 15);
equation
  der(c) = (out - c)/0.1;
  vin = 0.5*out - c;
  out = smooth(0, noEvent(if 15000*vin > 15 then 15 else if 15000*vin < -15 then -15 else 15000*vin));
end Schmitt2;
