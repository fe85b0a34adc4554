model OutputChain "a chain of outputs, each with a root that begins in zero"
  Real x(start = 0, fixed = true), y[5];
equation
  der(x) = 16;
  y[1] = sqrt(x);
  for k in 2:5 loop
    y[k] = sqrt(y[k - 1]) + sqrt(x);
  end for;
end OutputChain;
