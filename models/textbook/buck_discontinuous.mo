model BuckDiscontinuous "Step-down converter at a small load: the current of the coil stops in each period"
  parameter Real Vin = 10, Vout = 4, L = 1e-3, T = 1e-4, D = 0.3;
  Integer mode(start = 1, fixed = true) "1: switch, 2: diode, 3: no current";
  Real i(start = 0, fixed = true);
  Real q(start = 0, fixed = true) "charge into the load";
equation
  L*der(i) = if mode == 1 then Vin - Vout elseif mode == 2 then -Vout else 0;
  der(q) = i;
algorithm
  when sample(T, T) then
    mode := 1;
  elsewhen sample(D*T, T) then
    mode := 2;
  elsewhen i < 0 then
    mode := 3;
  end when;
  annotation(experiment(StopTime = 1.03e-3));
end BuckDiscontinuous;
