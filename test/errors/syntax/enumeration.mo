model M
  type E = enumeration(:);
  type F = enumeration(a b);
  Real x;
equation
  x = 1;
end M;
