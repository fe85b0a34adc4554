model MissingEnd "the last node of a rod has no equation"
  parameter Integer n = 6;
  Real T[n](each start = 20);
equation
  T[1] = 100*time;
  for i in 2:n-1 loop
    der(T[i]) = T[i+1] - 2*T[i] + T[i-1];
  end for;
end MissingEnd;
