model StructuralZero "7.4: index 1, structural index 0"
  Real x(start = 0), y(start = 0);
equation
  der(x) + der(y) + x + y = cos(time);
  der(x) + der(y) + x + 2*y = time;
end StructuralZero;
