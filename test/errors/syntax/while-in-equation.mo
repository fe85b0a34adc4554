model M
  Real x, y;
equation
  while x > 1 loop
    y = 1;
  end while;
  break;
end M;
