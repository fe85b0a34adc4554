model OutputPhasor "absolute value and angle of a phasor that begins at zero"
  Real re(start = 0, fixed = true), im(start = 0, fixed = true), a, p;
equation
  der(re) = 1;
  der(im) = 1 + re;
  a = sqrt(re*re + im*im);
  p = atan2(im, re);
end OutputPhasor;
