model M
  Integer k(start = 0);
equation
  if time > 1 then
    when time > 2 then
      k = 1;
    end when;
  end if;
end M;
