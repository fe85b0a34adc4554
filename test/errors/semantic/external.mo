function f
  input Real x;
  output Real y;
  external "C" y = f(x) annotation(Library = "m");
end f;
model M
  Real x = f(1);
end M;
