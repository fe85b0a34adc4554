model UTube "Water swings in a U-tube with turbulent friction"
  Real h(start = 0.3, fixed = true), v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -2*9.81/1.4*h - 0.4*v*abs(v);
  annotation(experiment(StopTime = 8));
end UTube;
