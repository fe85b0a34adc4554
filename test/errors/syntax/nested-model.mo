model M
  model N
    Real y;
  end N;
  Real x;
equation
  x = 1;
end M;
