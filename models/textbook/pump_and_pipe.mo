model PumpAndPipe "A pump fills a high tank: where its curve meets that of the pipe"
  Real q(start = 0.01) "m3/s", H "m, of the pump", h(start = 8, fixed = true) "m, level in the tank";
equation
  H = 30 - 8000*q^2 - 100*q;
  H = h + 12000*q^2;
  2*der(h) = q;
  annotation(experiment(StopTime = 3000));
end PumpAndPipe;
