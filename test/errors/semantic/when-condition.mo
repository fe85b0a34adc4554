model M
  Integer k(start = 0);
equation
  when time then
    k = 1;
  end when;
end M;
