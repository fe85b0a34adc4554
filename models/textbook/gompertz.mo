model Tumour "A tumour grows (Gompertz) and is treated twice"
  parameter Real a = 0.1, K = 1e9;
  Real cells(start = 1e6, fixed = true);
equation
  der(cells) = a*cells*log(K/cells);
  when {time > 10, time > 20} then
    reinit(cells, 0.2*pre(cells));
  end when;
  annotation(experiment(StopTime = 30));
end Tumour;
