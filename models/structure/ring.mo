// Written for this corpus, x_i = sin(t + i), lambda = cos(t): the left null vector of the matrix of
// derivatives is 1/(1 + x_i^2), a rational function of all unknowns. Index 2, where the structure
// promises 2 degrees of freedom more than there are.
model Ring "E(x) loses rank by a product of 26 factors that is 1: too long for a symbolic rewriting"
  constant Integer m = 26;
  Real x[m](start = {sin(i) for i in 1:m}, each fixed = false);
  Real lambda;
equation
  for i in 1:m loop
    (der(x[i]) - (1 + 0.1*i)*lambda)*(1 + x[mod(i, m) + 1]^2)
      - (1 + x[i]^2)*(der(x[mod(i, m) + 1]) - (1 + 0.1*(mod(i, m) + 1))*lambda)
    = (cos(time + i) - (1 + 0.1*i)*cos(time))*(1 + sin(time + mod(i, m) + 1)^2)
      - (1 + sin(time + i)^2)*(cos(time + mod(i, m) + 1) - (1 + 0.1*(mod(i, m) + 1))*cos(time))
      + (x[i] - sin(time + i))/i;
  end for;
  sum(x) = sum(sin(time + i) for i in 1:m);
end Ring;
