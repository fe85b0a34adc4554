model M
  Real x;
  Integer k(start = 0);
equation
  der(x) = 1;
  when x > 1 then
    reinit(der(x), 0);
    k = 1;
  end when;
end M;
