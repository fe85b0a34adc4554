// Hessenberg form of size 2 (K. E. Brenan, S. L. Campbell, L. R. Petzold, 1996, definition 2.5.3):
// differentiation index 2. One state, y, is free.
model Hessenberg2 "Chain of 1 states that a control keeps on a path, index 2"
  parameter Real w = 1 "of the given function of time";
  parameter Integer r = 2 "size of the form";
  parameter Real a = 0.25 "strength of the nonlinear coupling";
  Real x[r] "states, the control last";
  Real y(start = 1, fixed = true);
equation
  der(y) = -y + x[1];
  der(x[1]) = x[r] + a*y*x[1];
  for i in 2:r - 1 loop
    der(x[i]) = x[i - 1] + a*x[i]^2;
  end for;
  x[r - 1] = sin(w*time) "path";
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end Hessenberg2;
