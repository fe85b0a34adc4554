model ADC "An analog to digital converter of 8 bits samples a sine; its output is filtered"
  parameter Real Vref = 5;
  Real vin;
  discrete Integer code(start = 0, fixed = true);
  discrete Real last(start = 0, fixed = true) "voltage of the code";
  Real y(start = 0, fixed = true);
equation
  vin = 2.5 + 2*sin(7*time);
  when sample(0.005, 0.01) then
    code = integer(floor(vin/Vref*256));
    last = code*Vref/256;
  end when;
  der(y) = (last - y)/0.05;
  annotation(experiment(StopTime = 2));
end ADC;
