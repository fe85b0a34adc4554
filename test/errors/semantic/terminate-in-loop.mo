model M
  Real x(start = 1, fixed = true);
  Real s;
algorithm
  s := 0;
  while s < x loop
    s := s + 1;
    terminate("enough");
  end while;
equation
  der(x) = 1;
end M;
