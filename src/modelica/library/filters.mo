// Modelica.Blocks.Continuous.Internal.Filter: coefficients of filters from those of the low pass with cut-off frequency 1,
// which has the factors s + cr[i] and s^2 + c1[i]*s + c0[i].

// s becomes s/w.
function 'Modelica.Blocks.Continuous.Internal.Filter.coefficients.lowPass'
  input Real cr_in[:];
  input Real c0_in[:];
  input Real c1_in[size(c0_in, 1)];
  input Real f_cut;
  output Real cr[size(cr_in, 1)];
  output Real c0[size(c0_in, 1)];
  output Real c1[size(c0_in, 1)];
protected
  Real w = 2*3.14159265358979323846*f_cut;
algorithm
  assert(f_cut > 0, "the cut-off frequency of a filter must be positive, not " + String(f_cut));
  cr := w*cr_in;
  c0 := w^2*c0_in;
  c1 := w*c1_in;
end 'Modelica.Blocks.Continuous.Internal.Filter.coefficients.lowPass';

// s becomes w/s.
function 'Modelica.Blocks.Continuous.Internal.Filter.coefficients.highPass'
  input Real cr_in[:];
  input Real c0_in[:];
  input Real c1_in[size(c0_in, 1)];
  input Real f_cut;
  output Real cr[size(cr_in, 1)];
  output Real c0[size(c0_in, 1)];
  output Real c1[size(c0_in, 1)];
protected
  Real w = 2*3.14159265358979323846*f_cut;
algorithm
  assert(f_cut > 0, "the cut-off frequency of a filter must be positive, not " + String(f_cut));
  cr := {w/cr_in[i] for i in 1:size(cr_in, 1)};
  c0 := {w^2/c0_in[i] for i in 1:size(c0_in, 1)};
  c1 := {w*c1_in[i]/c0_in[i] for i in 1:size(c0_in, 1)};
end 'Modelica.Blocks.Continuous.Internal.Filter.coefficients.highPass';

// A factor of the fourth degree, s^4 + p*s^3 + (2 + q)*s^2 + p*s + 1, has roots in pairs z and 1/z. With t = s + 1/s it is
// t^2 + p*t + q: the factors are (s^2 + s*c/a + 1/a^2)*(s^2 + s*c*a + a^2), where c*(a + 1/a) = p and
// a^2 + 1/a^2 + c^2 = 2 + q. So h = (a + 1/a)^2 is the larger root of h^2 - (4 + q)*h + p^2, and a <= 1 follows.
function 'filters.pairOfFactors'
  input Real p;
  input Real q;
  output Real a;
  output Real c;
protected
  Real h = (4 + q + sqrt((4 + q)^2 - 4*p^2))/2;
algorithm
  a := (sqrt(h) - sqrt(max(h - 4, 0)))/2;
  c := p/sqrt(h);
end 'filters.pairOfFactors';

// s becomes (s/w + w/s)/b, where b is the relative width of the band and w its middle.
function 'Modelica.Blocks.Continuous.Internal.Filter.coefficients.bandPass'
  input Real cr_in[:];
  input Real c0_in[:];
  input Real c1_in[size(c0_in, 1)];
  input Real f_min;
  input Real f_max;
  output Real cr[0];
  output Real c0[size(cr_in, 1) + 2*size(c0_in, 1)];
  output Real c1[size(cr_in, 1) + 2*size(c0_in, 1)];
  output Real cn;
protected
  Real w = 2*3.14159265358979323846*sqrt(f_min*f_max);
  Real b = (f_max - f_min)/sqrt(f_min*f_max);
  Integer n = size(cr_in, 1);
  Real a;
  Real c;
algorithm
  assert(f_min > 0 and f_min < f_max, "the frequencies of a band must be 0 < f_min < f_max");
  for i in 1:n loop
    c0[i] := w^2;
    c1[i] := w*b*cr_in[i];
  end for;
  for i in 1:size(c0_in, 1) loop
    (a, c) := 'filters.pairOfFactors'(b*c1_in[i], b^2*c0_in[i]);
    c0[n + 2*i - 1] := (w/a)^2;
    c0[n + 2*i] := (w*a)^2;
    c1[n + 2*i - 1] := w*c/a;
    c1[n + 2*i] := w*c*a;
  end for;
  cn := w*b;
end 'Modelica.Blocks.Continuous.Internal.Filter.coefficients.bandPass';

// s becomes b/(s/w + w/s).
function 'Modelica.Blocks.Continuous.Internal.Filter.coefficients.bandStop'
  input Real cr_in[:];
  input Real c0_in[:];
  input Real c1_in[size(c0_in, 1)];
  input Real f_min;
  input Real f_max;
  output Real cr[0];
  output Real c0[size(cr_in, 1) + 2*size(c0_in, 1)];
  output Real c1[size(cr_in, 1) + 2*size(c0_in, 1)];
protected
  Real w = 2*3.14159265358979323846*sqrt(f_min*f_max);
  Real b = (f_max - f_min)/sqrt(f_min*f_max);
  Integer n = size(cr_in, 1);
  Real a;
  Real c;
algorithm
  assert(f_min > 0 and f_min < f_max, "the frequencies of a band must be 0 < f_min < f_max");
  for i in 1:n loop
    c0[i] := w^2;
    c1[i] := w*b/cr_in[i];
  end for;
  for i in 1:size(c0_in, 1) loop
    (a, c) := 'filters.pairOfFactors'(b*c1_in[i]/c0_in[i], b^2/c0_in[i]);
    c0[n + 2*i - 1] := (w/a)^2;
    c0[n + 2*i] := (w*a)^2;
    c1[n + 2*i - 1] := w*c/a;
    c1[n + 2*i] := w*c*a;
  end for;
end 'Modelica.Blocks.Continuous.Internal.Filter.coefficients.bandStop';
