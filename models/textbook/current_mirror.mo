model CurrentMirror "Current mirror of two transistors with a load that saturates it"
  parameter Real Is = 1e-15, Vt = 0.0257, beta = 100, Vcc = 10, Rref = 9.3e3;
  Real vbe(start = 0.6), vce(start = 5), iref, iout, Rload;
equation
  Rload = 1e3 + 1.2e3*time;
  Vcc - vbe = Rref*iref;
  iref = Is*(exp(vbe/Vt) - 1)*(1 + 2/beta);
  iout = Is*(exp(vbe/Vt) - 1) - Is*(exp((vbe - vce)/Vt) - 1);
  Vcc - vce = Rload*iout;
  annotation(experiment(StopTime = 10));
end CurrentMirror;
