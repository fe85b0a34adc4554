model M
  Real x = if time > 1 then 1 else false;
end M;
