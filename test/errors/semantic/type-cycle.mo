model M
  type T = U;
  type U = T;
  T x;
equation
  x = 1;
end M;
