model MovingAverage "A moving average of eight samples cleans a signal"
  parameter Integer n = 8;
  discrete Real buffer[n](each start = 0, each fixed = true), mean(start = 0, fixed = true);
  Real signal, y(start = 0, fixed = true);
equation
  signal = time + 0.3*sin(40*time);
  der(y) = 5*(mean - y);
algorithm
  when sample(0, 0.05) then
    for i in n:-1:2 loop
      buffer[i] := buffer[i - 1];
    end for;
    buffer[1] := signal;
    mean := sum(buffer)/n;
  end when;
  annotation(experiment(StopTime = 2.02));
end MovingAverage;
