model Mesh "Square mesh of resistors, a capacitor at every second node as on a chessboard: index 1; fed at one corner"
  constant Real pi = 2*asin(1.0);
  parameter Integer n = 10 "nodes a side";
  parameter Real g = 1 "conductance of a resistor";
  parameter Real C = 0.01 "capacity";
  parameter Real leak = 0.05 "conductance from every node to ground";
  Real v[n, n](start = zeros(n, n), fixed = {{mod(i + j, 2) == 0 for j in 1:n} for i in 1:n}) "voltages of nodes";
equation
  for i in 1:n loop
    for j in 1:n loop
      (if mod(i + j, 2) == 0 then C*der(v[i, j]) else 0) + leak*v[i, j] = (if i + j == 2 then sin(2*pi*time) else 0)
        + g*((if i > 1 then v[i - 1, j] - v[i, j] else 0) + (if i < n then v[i + 1, j] - v[i, j] else 0)
        + (if j > 1 then v[i, j - 1] - v[i, j] else 0) + (if j < n then v[i, j + 1] - v[i, j] else 0));
    end for;
  end for;
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-5));
end Mesh;
