model M
  Real x;
equation
  der(der(der(der(x)))) = 1;
end M;
