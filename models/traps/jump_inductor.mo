model JumpInductor "an ideal switch opens an inductor without a way on"
  Real i(start = 0, fixed = true), v;
equation
  0.1*der(i) = 10 - i - v;
  0 = if time < 0.5 then v else i;
  annotation(experiment(StopTime=1));
end JumpInductor;
