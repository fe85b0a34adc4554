record Cplx "a complex number"
  Real re;
  Real im;
end Cplx;
function divide
  input Cplx a, b;
  output Cplx c;
protected
  Real d;
algorithm
  d := b.re^2 + b.im^2;
  c := Cplx((a.re*b.re + a.im*b.im)/d, (a.im*b.re - a.re*b.im)/d);
end divide;
model Phasor "Frequency response of a notch filter, by complex numbers as records"
  parameter Real R = 50, L = 1e-3, C = 1e-9;
  Real f, w, gain, phase;
  Cplx Z, total, H;
equation
  f = 1e5*10^time;
  w = 2*3.14159265358979*f;
  Z.re = 2;
  Z.im = w*L - 1/(w*C);
  total.re = Z.re + R;
  total.im = Z.im;
  H = divide(Z, total);
  gain = 20*log10(sqrt(H.re^2 + H.im^2));
  phase = atan2(H.im, H.re);
  annotation(experiment(StopTime = 1));
end Phasor;
