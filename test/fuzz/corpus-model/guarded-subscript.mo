model C
  Real t[3] = {1,2,3};
  Integer k = integer(5*time);
  Real y = if k >= 1 and k <= 3 then t[k] else 0;
  Boolean b = k >= 1 and k <= 3 and t[k] > 2;
  Real z;
equation
  if k >= 1 and k <= 3 then
     z = t[k];
  else
     z = 7;
  end if;
end C;
