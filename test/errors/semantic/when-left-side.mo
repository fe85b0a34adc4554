model M
  Integer k(start = 0);
equation
  when time > 1 then
    k + 1 = 2;
  end when;
end M;
