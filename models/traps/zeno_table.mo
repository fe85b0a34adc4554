model ZenoTable "a ball above a table that moves, at any height: flights end in the rounding of their heights"
  parameter Real e = 0.5, H = 0, w = 0.1;
  Real h(start = H + 1, fixed = true), v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -10;
  when h < H + w*time then
    reinit(v, w - e*(pre(v) - w));
  end when;
  annotation(experiment(StopTime = 5));
end ZenoTable;
