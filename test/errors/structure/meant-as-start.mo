model MeantAsStart "a declaration with a value is an equation"
  Real x = 1;
  Real v(start = 0);
equation
  der(x) = v;
  der(v) = -x;
end MeantAsStart;
