model M
  Integer k(start = 0);
equation
  when time > 1 then
    k = 1;
  end when;
  when time > 2 then
    k = 2;
  end when;
end M;
