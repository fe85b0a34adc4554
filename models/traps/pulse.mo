model Pulse "A pulse of a ten-thousandth of the interval, by relations"
  Real x(start = 0, fixed = true);
equation
  der(x) = if time > 0.7123 and time < 0.7124 then 1 else 0;
end Pulse;
