model W5
  Real x(start=1,fixed=true);
  Real s;
algorithm
  s := 0;
  for i in 1:integer(x) loop
    for j in 1:i loop
      s := s + x*j;
      if s > 100 then break; end if;
    end for;
  end for;
equation
  der(x) = 1;
  annotation(experiment(StopTime=3.5));
end W5;
