model M
  Real x, y;
equation
  if x > 1
    y = 1;
  end if;
  when x > 2 y = 3; end when;
end M;
