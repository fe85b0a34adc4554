model M
  Real x(start = 1, fixed = true);
  discrete Real s;
algorithm
  for k in 1:integer(x) loop
    when x > 2 then
      s := k;
    end when;
  end for;
equation
  der(x) = 1;
end M;
