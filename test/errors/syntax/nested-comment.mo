model M
  Real x, y;
equation
  x = 1; /* outer /* inner */ y = 2; */
  y = ;
end M;
