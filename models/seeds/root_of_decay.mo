model RootOfDecay "x falls to a half at log 2"
  Real x(start = 1, fixed = true);
  discrete Real found(start = 0, fixed = true);
equation
  der(x) = -x;
  when x < 0.5 then
    found = time;
  end when;
  annotation(experiment(StopTime = 2));
end RootOfDecay;
