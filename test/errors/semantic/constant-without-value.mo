model M
  constant Real c;
  Real x = c;
end M;
