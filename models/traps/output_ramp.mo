model OutputRamp "an output with a ramp 2e-16 wide, of an algebraic variable"
  Real i(start = 0, fixed = true), psi, L;
equation
  psi = 3*i;
  3*der(i) = 3 - 3*i;
  L = noEvent(if abs(i) > 2.2e-16 then abs(psi/i) else abs(psi/2.2e-16));
end OutputRamp;
