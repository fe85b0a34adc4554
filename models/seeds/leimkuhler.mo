model Leimkuhler "(5.3.5): Y1' is known at the start, and Y2' follows from a constraint"
  Real Y1, Y2;
initial equation
  der(Y1) = 2;
equation
  der(Y1) + der(Y2) + Y1 = sin(time);
  Y2 = exp(time);
end Leimkuhler;
