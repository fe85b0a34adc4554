model TwoTimeSensor "A thermometer with a protective tube is put into hot water"
  Real Tw = if time < 2 then 20 else 80;
  Real Tube(start = 20, fixed = true), T(start = 20, fixed = true);
  Boolean alarm;
  discrete Real when60(start = -1, fixed = true);
equation
  8*der(Tube) = Tw - Tube;
  0.5*der(T) = Tube - T;
  alarm = T > 60;
  when alarm then
    when60 = time;
  end when;
  annotation(experiment(StopTime = 40));
end TwoTimeSensor;
