model RCLadder "Delay of a pulse along five RC sections"
  parameter Integer n = 5;
  parameter Real R = 1, C = 1;
  Real v[n](each start = 0, each fixed = true);
  Real i[n];
  Real u;
equation
  u = if time > 1 and time < 4 then 1 else 0;
  i[1] = (u - v[1])/R;
  for k in 2:n loop
    i[k] = (v[k - 1] - v[k])/R;
  end for;
  for k in 1:n - 1 loop
    C*der(v[k]) = i[k] - i[k + 1];
  end for;
  C*der(v[n]) = i[n];
  annotation(experiment(StopTime = 20));
end RCLadder;
