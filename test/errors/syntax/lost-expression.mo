model M
  Real x;
equation
  x = 1 + #EMPTY#;
end M;
