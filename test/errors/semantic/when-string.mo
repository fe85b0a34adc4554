model M
  parameter String s = "a";
  Real x = time;
equation
  when x > 1 then
    s = "b";
  end when;
end M;
