// Modelica.Math.Special and Modelica.Math.Distributions.Normal: the error function and the normal distribution.

// erf(x): 2/sqrt(pi)*exp(-x^2)*(x + 2*x^3/3 + 4*x^5/15 + ..) up to 3, beyond it the continued fraction of erfc
// [AS64 7.1.6, 7.1.14].
function 'Modelica.Math.Special.erf'
  input Real u;
  output Real y;
protected
  Real x = abs(u);
  Real s = 1;
  Real fraction = x;
algorithm
  for n in 60:-1:1 loop
    s := 1 + s*2*x^2/(2*n + 1);
  end for;
  for n in 40:-1:1 loop
    fraction := x + n/2/fraction;
  end for;
  y := if x < 3 then 2*x*s*exp(-x^2)/1.7724538509055160273 else 1 - exp(-x^2)/(1.7724538509055160273*fraction);
  y := if u < 0 then -y else y;
end 'Modelica.Math.Special.erf';

// The inverse of erf at p >= 0 by q = 1 - p: the quantile of the normal distribution at 1 - q/2 [Wic88], over sqrt(2).
function 'Modelica.Math.Special.Internal.erfInvUtil'
  input Real p;
  input Real q;
  output Real y;
algorithm
  y := -'special.quantile'(q/2, p/2)/sqrt(2.0);
end 'Modelica.Math.Special.Internal.erfInvUtil';

// The quantile at r <= 1/2, which is not positive; half = 1/2 - r.
function 'special.quantile'
  input Real r;
  input Real half;
  output Real y;
protected
  Real t;
algorithm
  if half <= 0.425 then
    t := 0.180625 - half^2;
    y := -half*'special.ratio'(t, {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
      1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4,
      2.5090809287301226727e3}, {1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
      2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3});
  else
    t := sqrt(-log(r));
    if t <= 5 then
      y := -'special.ratio'(t - 1.6, {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
        3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2,
        7.74545014278341407640e-4}, {1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
        1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9});
    else
      y := -'special.ratio'(t - 5, {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
        2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5,
        2.01033439929228813265e-7}, {1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
        7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15});
    end if;
  end if;
end 'special.quantile';

function 'special.ratio'
  input Real t;
  input Real a[:];
  input Real b[:];
  output Real y;
protected
  Real above = 0;
  Real below = 0;
algorithm
  for k in size(a, 1):-1:1 loop
    above := above*t + a[k];
    below := below*t + b[k];
  end for;
  y := above/below;
end 'special.ratio';

function 'Modelica.Math.Distributions.Normal.cumulative'
  input Real u;
  input Real mu = 0;
  input Real sigma = 1;
  output Real y;
algorithm
  y := (1 + 'Modelica.Math.Special.erf'((u - mu)/sigma/sqrt(2.0)))/2;
end 'Modelica.Math.Distributions.Normal.cumulative';

function 'Modelica.Math.Distributions.Normal.quantile'
  input Real u;
  input Real mu = 0;
  input Real sigma = 1;
  output Real y;
algorithm
  y := mu + sigma*(if u <= 0.5 then 'special.quantile'(u, 0.5 - u) else -'special.quantile'(1 - u, u - 0.5));
end 'Modelica.Math.Distributions.Normal.quantile';
