connector Pin
  Real v;
  flow Real i;
end Pin;
block B
  Real y = 1;
end B;
