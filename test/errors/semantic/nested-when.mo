model M
  Integer k(start = 0);
equation
  when time > 1 then
    when time > 2 then
      k = 1;
    end when;
  end when;
end M;
