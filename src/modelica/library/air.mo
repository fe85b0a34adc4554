// Modelica.Media.Air.ReferenceAir: dry air by its Helmholtz energy [LJPF00], in the variables delta = d/302.5507 kg/m3 and tau = 132.6312 K/T.

// a = f, f_delta, f_deltadelta, f_tau, f_tautau, f_deltatau of the ideal gas.
function 'air.ideal'
  input Real delta;
  input Real tau;
  output Real a[6];
protected
  constant Real n[5] = {0.605719400e-7, -0.210274769e-4, -0.158860716e-3, -13.841928076, 17.275266575};
  Real e1 = exp(25.36365*tau);
  Real e2 = exp(16.90741*tau);
  Real e3 = exp(-87.31279*tau)*2/3;
algorithm
  a[1] := log(delta) + sum(n[k]*tau^(k - 4) for k in 1:5) - 0.195363420e-3*tau^1.5 + 2.490888032*log(tau)
    + 0.791309509*log(1 - 1/e1) + 0.212236768*log(1 - 1/e2) + 0.197938904*(87.31279*tau + log(1 + e3));
  a[2] := 1/delta;
  a[3] := -1/delta^2;
  a[4] := sum((k - 4)*n[k]*tau^(k - 5) for k in 1:5) - 1.5*0.195363420e-3*sqrt(tau) + 2.490888032/tau
    + 0.791309509*25.36365/(e1 - 1) + 0.212236768*16.90741/(e2 - 1) + 0.197938904*87.31279/(1 + e3);
  a[5] := sum((k - 4)*(k - 5)*n[k]*tau^(k - 6) for k in 1:5) - 0.75*0.195363420e-3/sqrt(tau) - 2.490888032/tau^2
    - 0.791309509*25.36365^2*e1/(e1 - 1)^2 - 0.212236768*16.90741^2*e2/(e2 - 1)^2 + 0.197938904*87.31279^2*e3/(1 + e3)^2;
  a[6] := 0;
end 'air.ideal';

// The same of the residual part, a sum of terms n*delta^i*tau^j*exp(-delta^l), the last only for l > 0: a term times
// u = i - l*delta^l is delta times its derivative by delta.
function 'air.residual'
  input Real delta;
  input Real tau;
  output Real a[6];
protected
  constant Real n[19] = {0.118160747229, 0.713116392079, -1.61824192067, 0.0714140178971, -0.0865421396646, 0.134211176704,
    0.0112626704218, -0.0420533228842, 0.0349008431982, 0.164957183186e-3, -0.101365037912, -0.173813690970, -0.0472103183731,
    -0.0122523554253, -0.146629609713, -0.0316055879821, 0.233594806142e-3, 0.0148287891978, -0.00938782884667};
  constant Integer i[19] = {1, 1, 1, 2, 3, 3, 4, 4, 4, 6, 1, 3, 5, 6, 1, 3, 11, 1, 3};
  constant Real j[19] = {0, 0.33, 1.01, 0, 0, 0.15, 0, 0.2, 0.35, 1.35, 1.6, 0.8, 0.95, 1.25, 3.6, 6, 3.25, 3.5, 15};
  constant Integer l[19] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3};
  Real w;
  Real u;
  Real term;
algorithm
  a := zeros(6);
  for k in 1:19 loop
    w := if l[k] > 0 then delta^l[k] else 0;
    u := i[k] - l[k]*w;
    term := n[k]*delta^i[k]*tau^j[k]*exp(-w);
    a := a + term*{1, u/delta, (u*(u - 1) - l[k]^2*w)/delta^2, j[k]/tau, j[k]*(j[k] - 1)/tau^2, u*j[k]/(delta*tau)};
  end for;
end 'air.residual';

function 'Modelica.Media.Air.ReferenceAir.Air_Utilities.Basic.Helmholtz'
  input Real d;
  input Real T;
  output 'Modelica.Media.Common.HelmholtzDerivs' f;
protected
  Real delta = d/(0.0289586*10447.7);
  Real tau = 132.6312/T;
  Real a[6] = 'air.ideal'(delta, tau) + 'air.residual'(delta, tau);
algorithm
  f := 'Modelica.Media.Common.HelmholtzDerivs'(d, T, 287.117, delta, tau, a[1], a[2], a[3], a[4], a[5], a[6]);
end 'Modelica.Media.Air.ReferenceAir.Air_Utilities.Basic.Helmholtz';

// p, h, s, with the library's references of h and s, then the derivatives of each by d and by T.
function 'air.properties'
  input Real d;
  input Real T;
  output Real y[3, 3];
protected
  'Modelica.Media.Common.HelmholtzDerivs' f = 'Modelica.Media.Air.ReferenceAir.Air_Utilities.Basic.Helmholtz'(d, T);
  Real pd = f.R_s*T*f.delta*(2*f.fdelta + f.delta*f.fdeltadelta);
  Real pT = f.R_s*d*f.delta*(f.fdelta - f.tau*f.fdeltatau);
  Real cv = -f.R_s*f.tau^2*f.ftautau;
algorithm
  y[1, :] := {d*f.R_s*T*f.delta*f.fdelta, pd, pT};
  y[2, :] := {f.R_s*T*(f.tau*f.ftau + f.delta*f.fdelta) - 1589557.62320524, (pd - T*pT/d)/d, cv + pT/d};
  y[3, :] := {f.R_s*(f.tau*f.ftau - f.f) - 6610.41237132543, -pT/d^2, cv/T};
end 'air.properties';

// Density by Newton's method from that of an ideal gas; delp is the accuracy of the pressure.
function 'Modelica.Media.Air.ReferenceAir.Air_Utilities.Inverses.dofpT'
  input Real p;
  input Real T;
  input Real delp;
  output Real d;
protected
  Real y[3, 3];
  Real error = 1;
  Integer passes = 0;
algorithm
  d := p/(287.117*T);
  while passes < 100 and error > 0 loop
    y := 'air.properties'(d, T);
    error := abs(y[1, 1] - p) - delp;
    d := d - (y[1, 1] - p)/y[1, 2];
    passes := passes + 1;
  end while;
  assert(error <= 0, "no density of air is found for p = " + String(p) + ", T = " + String(T));
end 'Modelica.Media.Air.ReferenceAir.Air_Utilities.Inverses.dofpT';

// Density and temperature by Newton's method: row 2 of the properties (h) or 3 (s) is x.
function 'air.dTofpx'
  input Real p;
  input Real x;
  input Integer row;
  input Real T0;
  input Real delp;
  input Real delx;
  output Real d;
  output Real T;
protected
  Real y[3, 3];
  Real dp;
  Real dx;
  Real det;
  Real rounding = 1e-14*(abs(x) + (if row == 2 then 1589557 else 6610)); // the references are larger than x
  Boolean found = false;
  Integer passes = 0;
algorithm
  T := T0;
  d := p/(287.117*T);
  while passes < 100 and not found loop
    y := 'air.properties'(d, T);
    dp := y[1, 1] - p;
    dx := y[row, 1] - x;
    found := abs(dp) <= delp and abs(dx) <= delx + rounding;
    det := y[row, 3]*y[1, 2] - y[1, 3]*y[row, 2];
    T := T - (y[1, 2]*dx - y[row, 2]*dp)/det;
    d := d - (y[row, 3]*dp - y[1, 3]*dx)/det;
    passes := passes + 1;
  end while;
  assert(found, "no state of air is found for p = " + String(p) + " and " + (if row == 2 then "h" else "s") + " = " + String(x));
end 'air.dTofpx';

function 'Modelica.Media.Air.ReferenceAir.Air_Utilities.Inverses.dTofph'
  input Real p;
  input Real h;
  input Real delp;
  input Real delh;
  output Real d;
  output Real T;
algorithm
  (d, T) := 'air.dTofpx'(p, h, 2, h/1000 + 273.15, delp, delh);
end 'Modelica.Media.Air.ReferenceAir.Air_Utilities.Inverses.dTofph';

function 'Modelica.Media.Air.ReferenceAir.Air_Utilities.Inverses.dTofps'
  input Real p;
  input Real s;
  input Real delp;
  input Real dels;
  output Real d;
  output Real T;
algorithm
  (d, T) := 'air.dTofpx'(p, s, 3, 273.15, delp, dels);
end 'Modelica.Media.Air.ReferenceAir.Air_Utilities.Inverses.dTofps';
