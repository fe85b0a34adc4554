model M
  Real x, y;
equation
  x = 1 $ 2;
  # comment
  y = `a`;
  y = x \ 2;
end M;
