model SpikingNeuron "A neuron that spikes and is reset (Izhikevich)"
  parameter Real a = 0.02, b = 0.2, c = -65, d = 8;
  Real v(start = -65, fixed = true) "mV", u(start = -13, fixed = true);
  Integer spikes(start = 0, fixed = true);
equation
  der(v) = 0.04*v^2 + 5*v + 140 - u + 10;
  der(u) = a*(b*v - u);
  when v >= 30 then
    reinit(v, c);
    reinit(u, pre(u) + d);
    spikes = pre(spikes) + 1;
  end when;
  annotation(experiment(StopTime = 100));
end SpikingNeuron;
