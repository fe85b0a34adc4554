// Modelica.Math.FastFourierTransform: the transform of samples, by Cooley and Tukey's splitting into prime factors [CT65].

// The smallest prime factor of n > 1.
function 'fourier.factor'
  input Integer n;
  output Integer p;
algorithm
  p := 2;
  while p*p <= n and mod(n, p) <> 0 loop
    p := p + 1;
  end while;
  p := if p*p > n then n else p;
end 'fourier.factor';

// y[k + 1] = sum of u[j + 1]*exp(-2*pi*i*j*k/n) over j = 0 .. n - 1, rows of real and imaginary part. With n = p*m it is the sum
// of exp(-2*pi*i*q*k/n)*z_q[k mod m] over q = 0 .. p - 1, where z_q is the transform of the samples q, q + p, q + 2*p, ..
function 'fourier.transform'
  input Real u[2, :];
  output Real y[2, size(u, 2)];
protected
  Integer n = size(u, 2);
  Integer p;
  Integer m;
  Real z[2, size(u, 2)];
  Real angle;
  Integer at;
algorithm
  if n <= 1 then
    y := u;
    return;
  end if;
  p := 'fourier.factor'(n);
  m := div(n, p);
  for q in 0:p - 1 loop
    z[:, q*m + 1:q*m + m] := 'fourier.transform'(u[:, q + 1:p:n]);
  end for;
  for k in 0:n - 1 loop
    y[:, k + 1] := z[:, mod(k, m) + 1];
    for q in 1:p - 1 loop
      angle := 2*3.14159265358979323846*mod(q*k, n)/n;
      at := q*m + mod(k, m) + 1;
      y[:, k + 1] := y[:, k + 1] + {cos(angle)*z[1, at] + sin(angle)*z[2, at], cos(angle)*z[2, at] - sin(angle)*z[1, at]};
    end for;
  end for;
end 'fourier.transform';

// Amplitudes and phases of cosines at the frequencies 0 .. n/2, counted over the length of the signal: |X[k]|/(n/2 + 1) and the angle
// of X[k]. The transform X of n real samples follows from the one Z of n/2 complex samples u[1] + i*u[2], u[3] + i*u[4], ..:
// X[k] = (Z[k] + conj(Z[n/2 - k]))/2 - i*exp(-2*pi*i*k/n)*(Z[k] - conj(Z[n/2 - k]))/2. info = 1: n is odd, and nothing is computed.
function 'Modelica.Math.FastFourierTransform.Internal.rawRealFFT'
  input Real u[:];
  output Integer info;
  output Real amplitudes[div(size(u, 1), 2) + 1];
  output Real phases[div(size(u, 1), 2) + 1];
protected
  Integer n = size(u, 1);
  Integer half = div(n, 2);
  Real z[2, div(size(u, 1), 2)];
  Real a[2];
  Real b[2];
  Real even[2];
  Real odd[2];
  Real x[2];
  Real angle;
algorithm
  info := mod(n, 2);
  amplitudes := zeros(half + 1);
  phases := zeros(half + 1);
  if info == 0 and n > 0 then
    z := 'fourier.transform'({u[1:2:n], u[2:2:n]});
    for k in 0:half loop
      a := z[:, mod(k, half) + 1];
      b := z[:, mod(half - k, half) + 1];
      even := {a[1] + b[1], a[2] - b[2]}/2;
      odd := {a[2] + b[2], b[1] - a[1]}/2;
      angle := 2*3.14159265358979323846*k/n;
      x := even + {cos(angle)*odd[1] + sin(angle)*odd[2], cos(angle)*odd[2] - sin(angle)*odd[1]};
      amplitudes[k + 1] := sqrt(x*x)/(half + 1);
      phases[k + 1] := atan2(x[2], x[1]);
    end for;
  end if;
end 'Modelica.Math.FastFourierTransform.Internal.rawRealFFT';

function 'external.ModelicaFFT_kiss_fftr'
  input Real u[:];
  input Integer n;
  input Real work[:];
  input Integer nwork;
  output Integer info;
  output Real amplitudes[div(size(u, 1), 2) + 1];
  output Real phases[div(size(u, 1), 2) + 1];
algorithm
  (info, amplitudes, phases) := 'Modelica.Math.FastFourierTransform.Internal.rawRealFFT'(u);
end 'external.ModelicaFFT_kiss_fftr';
