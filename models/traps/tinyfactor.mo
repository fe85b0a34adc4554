// C x' = -x/R in sizes that differ by forty powers of ten; x = exp(-t). The factors are small or
// large and never zero.
model TinyFactor "Scales from 1e-20 to 1e20 are no loss of rank"
  parameter Real C = 1e-20, R = 1e20;
  Real x(start = 1, fixed = true), y, z;
equation
  C*(1 + x^2)*der(x) = -x*(1 + x^2)/R;
  1e-20*y*(2 + sin(time)) = x*1e20;
  1e20*z = y*1e-20;
end TinyFactor;
