model M
  Real x, y;
equation
  when x > 1 then
    y = 1;
  else
    y = 2;
  end when;
end M;
