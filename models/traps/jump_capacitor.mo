model JumpCapacitor "an ideal switch shorts a charged capacitor"
  Real v(start=5,fixed=true), i, isw, vsw;
equation
  0.01*der(v) = i;
  i = (10-v)/100 - isw;
  vsw = v;
  if time > 1 then vsw = 0; else isw = 0; end if;
  annotation(experiment(StopTime=2));
end JumpCapacitor;
