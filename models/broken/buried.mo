// Heat flows through a rod of twenty cells; the sensor at its end has three equations for two
// values.
model Buried "A structurally singular part inside a large model"
  parameter Integer n = 20;
  parameter Real w = 1;
  Real T[n](each start = 0, each fixed = true);
  Real reading, bias;
  Real spare, unused "one equation for both";
equation
  der(T[1]) = 1 - 2*T[1] + T[2];
  for i in 2:n - 1 loop
    der(T[i]) = T[i - 1] - 2*T[i] + T[i + 1];
  end for;
  der(T[n]) = T[n - 1] - T[n];
  spare + unused = T[n];
  2*reading = 3 + bias; // culprit
  bias = 0.1*reading + sin(w*time); // culprit
  reading^2 + bias^2 = 4 + cos(w*time); // culprit
end Buried;
