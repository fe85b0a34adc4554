// [BCP96] end of 6.5, E y' = A(y) y - d(t), after T. S. Chua and P. M. Dew: pressures at 4 n nodes, flows
// through 3 n pipes and n machines, of which one is the source and the others compressors. A compressor
// of fixed ratio ties two pressures that both have a capacity: index 2. Consumers follow the day.
model GasNetwork "Gas network over a day with its demand, index 2"
  parameter Integer n = 50 "sections: four nodes, three pipes and a machine each";
  parameter Real c = 0.05 "capacity of a node";
  parameter Real k = 0.02, b = 0.02 "friction in a pipe, k q |q| + b q";
  parameter Real ratio = 1.015 "of the compressors";
  parameter Real p0 = 2 "pressure of the source";
  Real p[n, 4](each start = 2) "pressures at the nodes";
  Real q[n, 3](each start = 0.5) "flows through the pipes";
  Real m[n](each start = 0.5) "flows through the machines; the first is the source";
  Real day "share of the demand at a time of the day, in hours";
  Real d "demand of each section";
  Real supplied(start = 0, fixed = true), consumed(start = 0, fixed = true) "since the start";
initial equation
  for s in 1:n loop
    p[s, 2] = 2;
    p[s, 3] = 2;
    p[s, 4] = 2;
  end for;
equation
  day = if time < 6 then 0.5 elseif time < 9 then 1.5 elseif time < 17 then 1 elseif time < 22 then 1.3 else 0.5;
  d = 0.02*day;
  p[1, 1] = p0 "the source holds its pressure";
  for s in 2:n loop
    p[s, 1] = ratio*p[s - 1, 4] "compressor";
  end for;
  for s in 1:n loop
    for i in 1:3 loop
      p[s, i]^2 - p[s, i + 1]^2 = k*q[s, i]*abs(q[s, i]) + b*q[s, i] "pipe";
    end for;
    c*der(p[s, 1]) = m[s] - q[s, 1];
    c*der(p[s, 2]) = q[s, 1] - q[s, 2];
    c*der(p[s, 3]) = q[s, 2] - q[s, 3];
    c*der(p[s, 4]) = q[s, 3] - d - (if s < n then m[min(s + 1, n)] else 0);
  end for;
  der(supplied) = m[1];
  der(consumed) = n*d;
  annotation(experiment(StartTime = 0, StopTime = 24, Tolerance = 1e-6));
end GasNetwork;
