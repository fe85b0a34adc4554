package P
  model M
    Real x;
  equation
    x = 1;
end P;
