model M
  Real x, y;
equation
  if x > 1 then
    y = 1;
  elsif x < 0 then
    y = 2;
  else
    y = 3;
  endif;
  x = 1;
end M;
