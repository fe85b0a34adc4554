model M
  type Color = enumeration(red, green);
  Real x = Color.red + 1;
end M;
