model LoopCollides "the loop has the last node already"
  parameter Integer n = 4;
  Real u[n](each start = 0);
equation
  for i in 2:n loop
    der(u[i]) = u[i-1] - u[i];
  end for;
  u[n] = 0.5*u[n-1];
  u[1] = sin(time);
end LoopCollides;
