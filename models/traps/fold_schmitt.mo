model Schmitt "comparator with positive feedback: out jumps where the input passes +-1.5"
  Real u, vin, out(start = 15);
equation
  u = 5*sin(6.283185307179586*time);
  vin = 0.1*out - u;
  out = smooth(0, noEvent(if 15000*vin > 15 then 15 else if 15000*vin < -15 then -15 else 15000*vin));
end Schmitt;
