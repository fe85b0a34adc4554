model M
  type Color = enumeration(red, green);
  type Shape = enumeration(round, square);
  Color c = Color.gren;
  Shape s = Color.red;
end M;
