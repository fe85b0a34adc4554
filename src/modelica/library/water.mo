// Modelica.Media.Water.IF97_Utilities: water and steam by the Industrial Formulation 1997 [IF97], regions 1 (liquid),
// 2 (steam), 3 (around the critical point, by density and temperature), 4 (saturation) and 5 (hot steam, as in 1997), and
// its backward equations [IF97, IB03]. Units are those of the SI.

record 'Modelica.Media.Common.GibbsDerivs'
  Real 'p';
  Real 'T';
  Real 'R_s';
  Real 'pi';
  Real 'tau';
  Real 'g';
  Real 'gpi';
  Real 'gpipi';
  Real 'gtau';
  Real 'gtautau';
  Real 'gtaupi';
end 'Modelica.Media.Common.GibbsDerivs';

record 'Modelica.Media.Common.HelmholtzDerivs'
  Real 'd';
  Real 'T';
  Real 'R_s';
  Real 'delta';
  Real 'tau';
  Real 'f';
  Real 'fdelta';
  Real 'fdeltadelta';
  Real 'ftau';
  Real 'ftautau';
  Real 'fdeltatau';
end 'Modelica.Media.Common.HelmholtzDerivs';

record 'Modelica.Media.Common.PhaseBoundaryProperties'
  Real 'd';
  Real 'h';
  Real 'u';
  Real 's';
  Real 'cp';
  Real 'cv';
  Real 'pt';
  Real 'pd';
end 'Modelica.Media.Common.PhaseBoundaryProperties';

// s[1] = sum of n*x^I*y^J, then its derivatives by x, x twice, y, y twice, and x and y; neither x nor y is zero.
function 'water.sums'
  input Real n[:];
  input Integer I[size(n, 1)];
  input Integer J[size(n, 1)];
  input Real x;
  input Real y;
  output Real s[6];
protected
  Real term;
algorithm
  s := zeros(6);
  for k in 1:size(n, 1) loop
    term := n[k]*x^I[k]*y^J[k];
    s := s + {term, I[k]*term, I[k]*(I[k] - 1)*term, J[k]*term, J[k]*(J[k] - 1)*term, I[k]*J[k]*term};
  end for;
  s := {s[1], s[2]/x, s[3]/x^2, s[4]/y, s[5]/y^2, s[6]/(x*y)};
end 'water.sums';

// The same sum without derivatives, where x or y may be zero; exponents are not negative there.
function 'water.sum'
  input Real n[:];
  input Integer I[size(n, 1)];
  input Integer J[size(n, 1)];
  input Real x;
  input Real y;
  output Real s;
algorithm
  s := sum(n[k]*x^I[k]*y^J[k] for k in 1:size(n, 1));
end 'water.sum';

function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.g1'
  input Real p;
  input Real T;
  output 'Modelica.Media.Common.GibbsDerivs' g;
protected
  constant Real n[34] = {0.14632971213167, -0.84548187169114, -3.756360367204, 3.3855169168385, -0.95791963387872,
    0.15772038513228, -0.016616417199501, 0.00081214629983568, 0.00028319080123804, -0.00060706301565874,
    -0.018990068218419, -0.032529748770505, -0.021841717175414, -5.283835796993e-05, -0.00047184321073267,
    -0.00030001780793026, 4.7661393906987e-05, -4.4141845330846e-06, -7.2694996297594e-16, -3.1679644845054e-05,
    -2.8270797985312e-06, -8.5205128120103e-10, -2.2425281908e-06, -6.5171222895601e-07, -1.4341729937924e-13,
    -4.0516996860117e-07, -1.2734301741641e-09, -1.7424871230634e-10, -6.8762131295531e-19, 1.4478307828521e-20,
    2.6335781662795e-23, -1.1947622640071e-23, 1.8228094581404e-24, -9.3537087292458e-26};
  constant Integer I[34] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 8, 8, 21,
    23, 29, 30, 31, 32};
  constant Integer J[34] = {-2, -1, 0, 1, 2, 3, 4, 5, -9, -7, -1, 0, 1, 3, -3, 0, 1, 3, 17, -4, 0, 6, -5, -2, 10, -8,
    -11, -6, -29, -31, -38, -39, -40, -41};
  Real s[6];
algorithm
  assert(p > 0 and p <= 100e6 and T >= 273.15, "water is outside of region 1 of IF97: p = " + String(p) + ", T = " +
    String(T));
  g.p := p;
  g.T := T;
  g.R_s := 461.526;
  g.pi := p/16.53e6;
  g.tau := 1386/T;
  s := 'water.sums'(n, I, J, 7.1 - g.pi, g.tau - 1.222);
  g.g := s[1];
  g.gpi := -s[2];
  g.gpipi := s[3];
  g.gtau := s[4];
  g.gtautau := s[5];
  g.gtaupi := -s[6];
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.g1';

function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.g2'
  input Real p;
  input Real T;
  input Boolean checkLimits = true;
  output 'Modelica.Media.Common.GibbsDerivs' g;
protected
  constant Real n0[9] = {-9.6927686500217, 10.086655968018, -0.005608791128302, 0.071452738081455, -0.40710498223928,
    1.4240819171444, -4.383951131945, -0.28408632460772, 0.021268463753307};
  constant Integer J0[9] = {0, 1, -5, -4, -3, -2, -1, 2, 3};
  constant Real n[43] = {-0.0017731742473213, -0.017834862292358, -0.045996013696365, -0.057581259083432,
    -0.05032527872793, -3.3032641670203e-05, -0.00018948987516315, -0.0039392777243355, -0.043797295650573,
    -2.6674547914087e-05, 2.0481737692309e-08, 4.3870667284435e-07, -3.227767723857e-05, -0.0015033924542148,
    -0.040668253562649, -7.8847309559367e-10, 1.2790717852285e-08, 4.8225372718507e-07, 2.2922076337661e-06,
    -1.6714766451061e-11, -0.0021171472321355, -23.895741934104, -5.905956432427e-18, -1.2621808899101e-06,
    -0.038946842435739, 1.1256211360459e-11, -8.2311340897998, 1.9809712802088e-08, 1.0406965210174e-19,
    -1.0234747095929e-13, -1.0018179379511e-09, -8.0882908646985e-11, 0.10693031879409, -0.33662250574171,
    8.9185845355421e-25, 3.0629316876232e-13, -4.2002467698208e-06, -5.9056029685639e-26, 3.7826947613457e-06,
    -1.2768608934681e-15, 7.3087610595061e-29, 5.5414715350778e-17, -9.436970724121e-07};
  constant Integer I[43] = {1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 5, 6, 6, 6, 7, 7, 7, 8, 8, 9, 10,
    10, 10, 16, 16, 18, 20, 20, 20, 21, 22, 23, 24, 24, 24};
  constant Integer J[43] = {0, 1, 2, 3, 6, 1, 2, 4, 7, 36, 0, 1, 3, 6, 35, 1, 2, 3, 7, 3, 16, 35, 0, 11, 25, 8, 36,
    13, 4, 10, 14, 29, 50, 57, 20, 35, 48, 21, 53, 39, 26, 40, 58};
  Real s0[6];
  Real s[6];
algorithm
  assert(not checkLimits or p > 0 and p <= 100e6 and T >= 273.15 and T <= 1073.15,
    "steam is outside of region 2 of IF97: p = " + String(p) + ", T = " + String(T));
  g.p := p;
  g.T := T;
  g.R_s := 461.526;
  g.pi := p/1e6;
  g.tau := 540/T;
  s0 := 'water.sums'(n0, zeros(9), J0, 1, g.tau);
  s := 'water.sums'(n, I, J, g.pi, g.tau - 0.5);
  g.g := log(g.pi) + s0[1] + s[1];
  g.gpi := 1/g.pi + s[2];
  g.gpipi := -1/g.pi^2 + s[3];
  g.gtau := s0[4] + s[4];
  g.gtautau := s0[5] + s[5];
  g.gtaupi := s[6];
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.g2';

function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.f3'
  input Real d;
  input Real T;
  output 'Modelica.Media.Common.HelmholtzDerivs' f;
protected
  constant Real n[39] = {-15.732845290239, 20.944396974307, -7.6867707878716, 2.6185947787954, -2.808078114862,
    1.2053369696517, -0.0084566812812502, -1.2654315477714, -1.1524407806681, 0.88521043984318, -0.64207765181607,
    0.38493460186671, -0.85214708824206, 4.8972281541877, -3.0502617256965, 0.039420536879154, 0.12558408424308,
    -0.2799932969871, 1.389979956946, -2.018991502357, -0.0082147637173963, -0.47596035734923, 0.0439840744735,
    -0.44476435428739, 0.90572070719733, 0.70522450087967, 0.10770512626332, -0.32913623258954, -0.50871062041158,
    -0.022175400873096, 0.094260751665092, 0.16436278447961, -0.013503372241348, -0.014834345352472,
    0.00057922953628084, 0.0032308904703711, 8.0964802996215e-05, -0.00016557679795037, -4.4923899061815e-05};
  constant Integer I[39] = {0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 6,
    6, 6, 7, 8, 9, 9, 10, 10, 11};
  constant Integer J[39] = {0, 1, 2, 7, 10, 12, 23, 2, 6, 15, 17, 0, 2, 6, 7, 22, 26, 0, 2, 4, 16, 26, 0, 2, 4, 26, 1,
    3, 26, 0, 2, 26, 2, 26, 2, 26, 0, 1, 26};
  Real s[6];
algorithm
  f.d := d;
  f.T := T;
  f.R_s := 461.526;
  f.delta := d/322;
  f.tau := 647.096/T;
  s := 'water.sums'(n, I, J, f.delta, f.tau);
  f.f := 1.0658070028513*log(f.delta) + s[1];
  f.fdelta := 1.0658070028513/f.delta + s[2];
  f.fdeltadelta := -1.0658070028513/f.delta^2 + s[3];
  f.ftau := s[4];
  f.ftautau := s[5];
  f.fdeltatau := s[6];
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.f3';

function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.g5'
  input Real p;
  input Real T;
  output 'Modelica.Media.Common.GibbsDerivs' g;
protected
  Real s0[6];
  Real s[6];
algorithm
  assert(p > 0 and p <= 10e6 and T >= 1073.15 and T <= 2273.15, "steam is outside of region 5 of IF97: p = " +
    String(p) + ", T = " + String(T));
  g.p := p;
  g.T := T;
  g.R_s := 461.526;
  g.pi := p/1e6;
  g.tau := 1000/T;
  s0 := 'water.sums'({-13.179983674201, 6.8540841634434, -0.024805148933466, 0.36901534980333, -3.1161318213925,
    -0.32961626538917}, zeros(6), {0, 1, -3, -2, -1, 2}, 1, g.tau);
  s := 'water.sums'({-0.12563183589592e-3, 0.21774678714571e-2, -0.4594282089991e-2, -0.39724828359569e-5,
    0.12919228289784e-6}, {1, 1, 1, 2, 3}, {0, 1, 3, 9, 3}, g.pi, g.tau);
  g.g := log(g.pi) + s0[1] + s[1];
  g.gpi := 1/g.pi + s[2];
  g.gpipi := -1/g.pi^2 + s[3];
  g.gtau := s0[4] + s[4];
  g.gtautau := s0[5] + s[5];
  g.gtaupi := s[6];
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.g5';

// Density and enthalpy of a Gibbs function.
function 'water.density'
  input 'Modelica.Media.Common.GibbsDerivs' g;
  output Real d;
algorithm
  d := g.p/(g.R_s*g.T*g.pi*g.gpi);
end 'water.density';

function 'water.enthalpy'
  input 'Modelica.Media.Common.GibbsDerivs' g;
  output Real h;
algorithm
  h := g.R_s*g.T*g.tau*g.gtau;
end 'water.enthalpy';

// The boundary between regions 2 and 3.
function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.boundary23ofp'
  input Real p;
  output Real t;
algorithm
  t := 572.54459862746 + sqrt((p/1e6 - 13.91883977887)/0.0010192970039326);
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.boundary23ofp';

function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.boundary23ofT'
  input Real t;
  output Real p;
algorithm
  p := 1e6*(348.05185628969 + t*(-1.1671859879975 + t*0.0010192970039326));
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.boundary23ofT';

// ---- saturation: b^2*(x^2 + n1*x + n2) + b*(n3*x^2 + n4*x + n5) + n6*x^2 + n7*x + n8 = 0 with b = (p/MPa)^(1/4) ----

function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.psat'
  input Real T;
  output Real p_sat;
protected
  Real Tlim = min(T, 647.096);
  Real x = Tlim - 0.23855557567849/(Tlim - 650.17534844798);
  Real a = x^2 + 1167.0521452767*x - 724213.16703206;
  Real b = -17.073846940092*x^2 + 12020.82470247*x - 3232555.0322333;
  Real c = 14.91510861353*x^2 - 4823.2657361591*x + 405113.40542057;
algorithm
  p_sat := 1e6*(2*c/(-b + sqrt(b^2 - 4*a*c)))^4;
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.psat';

function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.tsat'
  input Real p;
  output Real t_sat;
protected
  Real b = (min(p, 22.064e6)/1e6)^0.25;
  Real e = b^2 - 17.073846940092*b + 14.91510861353;
  Real f = 1167.0521452767*b^2 + 12020.82470247*b - 4823.2657361591;
  Real g = -724213.16703206*b^2 - 3232555.0322333*b + 405113.40542057;
  Real x = 2*g/(-f - sqrt(f^2 - 4*e*g));
algorithm
  assert(p > 611.657, "water has no saturation temperature below the triple point: p = " + String(p));
  t_sat := (650.17534844798 + x - sqrt((650.17534844798 + x)^2 - 4*(-0.23855557567849 + 650.17534844798*x)))/2;
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.tsat';

// dp/dT of saturation, by the equation above as an implicit function of x and b.
function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.dptofT'
  input Real T;
  output Real dpt;
protected
  Real Tlim = min(T, 647.096);
  Real x = Tlim - 0.23855557567849/(Tlim - 650.17534844798);
  Real xT = 1 + 0.23855557567849/(Tlim - 650.17534844798)^2;
  Real b = ('Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.psat'(Tlim)/1e6)^0.25;
  Real Fx = b^2*(2*x + 1167.0521452767) + b*(12020.82470247 - 2*17.073846940092*x) + 2*14.91510861353*x - 4823.2657361591;
  Real Fb = 2*b*(x^2 + 1167.0521452767*x - 724213.16703206) - 17.073846940092*x^2 + 12020.82470247*x - 3232555.0322333;
algorithm
  dpt := -4e6*b^3*Fx/Fb*xT;
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.dptofT';

function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.dtsatofp'
  input Real p;
  output Real dtsat;
algorithm
  dtsat := 1/'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.dptofT'('Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.tsat'(p));
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.dtsatofp';

// Saturation inside of region 3, as polynomials of acos(p/p_critical) that the library gives.
function 'water.acosPolynomial'
  input Real p;
  input Real c[:];
  output Real y;
protected
  Real x = acos(min(p/22.064e6, 1));
algorithm
  y := 0;
  for k in size(c, 1):-1:1 loop
    y := y*x + c[k];
  end for;
end 'water.acosPolynomial';

function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.hl_p_R4b'
  input Real p;
  output Real h;
algorithm
  h := 2087546.84511715*'water.acosPolynomial'(p, {1, -0.4945586958175176, 1.346800016564904, -3.889388153209752,
    6.679385472887931, -6.75820241066552, 3.558919744656498, -0.7179818554978939, -0.0001152032945617821});
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.hl_p_R4b';

function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.hv_p_R4b'
  input Real p;
  output Real h;
algorithm
  h := 2087546.84511715*'water.acosPolynomial'(p, {1, 0.4880153718655694, 0.2079670746250689, -6.084122698421623,
    25.08887602293532, -48.38215180269516, 45.66489164833212, -16.98555442961553, 0.0006616936460057691});
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.hv_p_R4b';

function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.rhol_p_R4b'
  input Real p;
  output Real dl;
algorithm
  dl := 322*'water.acosPolynomial'(p, {1, 1.903224079094824, -2.5314861802401123, -8.191449323843552, 94.34196116778385,
    -369.3676833623383, 796.6627910598293, -994.5385383600702, 673.2581177021598, -191.43077336405156,
    0.00052536560808895});
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.rhol_p_R4b';

function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.rhov_p_R4b'
  input Real p;
  output Real dv;
algorithm
  dv := 322*'water.acosPolynomial'(p, {1, -1.8463850803362596, -1.1447872718878493, 59.18702203076563,
    -403.5391431811611, 1437.2007245332388, -3015.853540307519, 3740.5790348670057, -2537.375817253895,
    725.8761975803782, -0.0011151111658332337});
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.rhov_p_R4b';

function 'Modelica.Media.Water.IF97_Utilities.hl_p'
  input Real p;
  output Real h;
protected
  Real T = 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.tsat'(p);
algorithm
  if p >= 22.064e6 then
    h := 2087546.84511715;
  elseif T > 623.15 then
    h := 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.hl_p_R4b'(p);
  else
    h := 'water.enthalpy'('Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.g1'(p, T));
  end if;
end 'Modelica.Media.Water.IF97_Utilities.hl_p';

function 'Modelica.Media.Water.IF97_Utilities.hv_p'
  input Real p;
  output Real h;
protected
  Real T = 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.tsat'(p);
algorithm
  if p >= 22.064e6 then
    h := 2087546.84511715;
  elseif T > 623.15 then
    h := 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.hv_p_R4b'(p);
  else
    h := 'water.enthalpy'('Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.g2'(p, T));
  end if;
end 'Modelica.Media.Water.IF97_Utilities.hv_p';

function 'Modelica.Media.Water.IF97_Utilities.rhol_T'
  input Real T;
  output Real d;
protected
  Real p = 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.psat'(T);
algorithm
  if T < 623.15 then
    d := 'water.density'('Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.g1'(p, T));
  else
    d := 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.rhol_p_R4b'(p);
  end if;
end 'Modelica.Media.Water.IF97_Utilities.rhol_T';

function 'Modelica.Media.Water.IF97_Utilities.rhov_T'
  input Real T;
  output Real d;
protected
  Real p = 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.psat'(T);
algorithm
  if T < 623.15 then
    d := 'water.density'('Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.g2'(p, T));
  else
    d := 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.rhov_p_R4b'(p);
  end if;
end 'Modelica.Media.Water.IF97_Utilities.rhov_T';

// ---- temperature by pressure and enthalpy ----

function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.tph1'
  input Real p;
  input Real h;
  output Real T;
protected
  constant Real n[20] = {-238.72489924521, 404.21188637945, 113.49746881718, -5.8457616048039, -0.0001528548241314,
    -1.0866707695377e-06, -13.391744872602, 43.211039183559, -54.010067170506, 30.535892203916, -6.5964749423638,
    0.0093965400878363, 1.157364750534e-07, -2.5858641282073e-05, -4.0644363084799e-09, 6.6456186191635e-08,
    8.0670734103027e-11, -9.3477771213947e-13, 5.8265442020601e-15, -1.5020185953503e-17};
  constant Integer I[20] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 3, 4, 5, 6};
  constant Integer J[20] = {0, 1, 2, 6, 22, 32, 0, 1, 2, 3, 4, 10, 32, 10, 32, 10, 32, 32, 32, 32};
algorithm
  T := 'water.sum'(n, I, J, p/1e6, h/2.5e6 + 1);
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.tph1';

function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.tph2'
  input Real p;
  input Real h;
  output Real T;
protected
  constant Real na[34] = {1089.8952318288, 849.51654495535, -107.81748091826, 33.153654801263, -7.4232016790248,
    11.765048724356, 1.844574935579, -4.1792700549624, 6.2478196935812, -17.344563108114, -200.58176862096,
    271.96065473796, -455.11318285818, 3091.9688604755, 252266.40357872, -0.0061707422868339, -0.31078046629583,
    11.670873077107, 128127984.04046, -985549096.23276, 2822454697.3002, -3594897141.0703, 1722734991.3197,
    -13551.334240775, 12848734.66465, 1.3865724283226, 235988.32556514, -13105236.545054, 7399.9835474766,
    -551966.9703006, 3715408.5996233, 19127.72923966, -415351.64835634, -62.459855192507};
  constant Integer Ia[34] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 4, 4, 4, 5, 5,
    5, 6, 6, 7};
  constant Integer Ja[34] = {0, 1, 2, 3, 7, 20, 0, 1, 2, 3, 7, 9, 11, 18, 44, 0, 2, 7, 36, 38, 40, 42, 44, 24, 44, 12,
    32, 44, 32, 36, 42, 34, 44, 28};
  constant Real nb[38] = {1489.5041079516, 743.07798314034, -97.708318797837, 2.4742464705674, -0.63281320016026,
    1.1385952129658, -0.47811863648625, 0.0085208123431544, 0.93747147377932, 3.3593118604916, 3.3809355601454,
    0.16844539671904, 0.73875745236695, -0.47128737436186, 0.15020273139707, -0.002176411421975, -0.021810755324761,
    -0.10829784403677, -0.046333324635812, 7.1280351959551e-05, 0.00011032831789999, 0.00018955248387902,
    0.0030891541160537, 0.0013555504554949, 2.8640237477456e-07, -1.0779857357512e-05, -7.6462712454814e-05,
    1.4052392818316e-05, -3.1083814331434e-05, -1.0302738212103e-06, 2.821728163504e-07, 1.2704902271945e-06,
    7.3803353468292e-08, -1.1030139238909e-08, -8.1456365207833e-14, -2.5180545682962e-11, -1.7565233969407e-18,
    8.6934156344163e-15};
  constant Integer Ib[38] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4,
    5, 5, 5, 6, 7, 7, 9, 9};
  constant Integer Jb[38] = {0, 1, 2, 12, 18, 24, 28, 40, 0, 2, 6, 12, 18, 24, 28, 40, 2, 8, 18, 40, 1, 2, 12, 24, 2,
    12, 18, 24, 28, 40, 18, 24, 40, 28, 2, 28, 1, 40};
  constant Real nc[23] = {-3236839855524.2, 7326335090218.1, 358250899454.47, -583401318515.9, -10783068217.47,
    20825544563.171, 610747.83564516, 859777.2253558, -25745.72360417, 31081.088422714, 1208.2315865936,
    482.19755109255, 3.7966001272486, -10.842984880077, -0.04536417267666, 1.4559115658698e-13, 1.126159740723e-12,
    -1.7804982240686e-11, 1.2324579690832e-07, -1.1606921130984e-06, 2.7846367088554e-05, -0.00059270038474176,
    0.0012918582991878};
  constant Integer Ic[23] = {-7, -7, -6, -6, -5, -5, -2, -2, -1, -1, 0, 0, 1, 1, 2, 6, 6, 6, 6, 6, 6, 6, 6};
  constant Integer Jc[23] = {0, 4, 0, 2, 0, 2, 0, 1, 0, 2, 0, 1, 4, 8, 4, 0, 1, 4, 10, 12, 16, 20, 22};
  Real pi = p/1e6;
  Real eta = h/1e3;
algorithm
  if pi < 4 then
    T := 'water.sum'(na, Ia, Ja, pi, eta/2000 - 2.1);
  elseif pi < 905.84278514723 + eta*(-0.67955786399241 + eta*0.12809002730136e-3) then
    T := 'water.sum'(nb, Ib, Jb, pi - 2, eta/2000 - 2.6);
  else
    T := 'water.sum'(nc, Ic, Jc, pi + 25, eta/2000 - 1.8);
  end if;
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.tph2';

// Newton's method from the middle of region 5, where h is nearly a line of T.
function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Inverses.tofph5'
  input Real p;
  input Real h;
  input Real reldh;
  output Real T;
  output Integer error;
protected
  'Modelica.Media.Common.GibbsDerivs' g;
  Real step;
algorithm
  T := 1500;
  for i in 1:6 loop
    g := 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.g5'(p, min(max(T, 1073.15), 2273.15));
    step := ('water.enthalpy'(g) - h)/(-g.R_s*g.tau^2*g.gtautau);
    T := g.T - step;
  end for;
  assert(abs(step) <= 1e-5*T, "no temperature of region 5 of IF97 is found for p = " + String(p) + ", h = " + String(h));
  error := 0;
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Inverses.tofph5';

// Density and temperature in region 3, by Newton's method from the backward equations.
function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Inverses.dtofph3'
  input Real p;
  input Real h;
  input Real delp;
  input Real delh;
  output Real d;
  output Real T;
  output Integer error;
protected
  constant Real nTa[31] = {-1.33645667811215e-07, 4.55912656802978e-06, -1.46294640700979e-05, 0.0063934131297008,
    372.783927268847, -7186.54377460447, 573494.7521034, -2675693.29111439, -3.34066283302614e-05,
    -0.0245479214069597, 47.8087847764996, 7.64664131818904e-06, 0.00128350627676972, 0.0171219081377331,
    -8.51007304583213, -0.0136513461629781, -3.84460997596657e-06, 0.00337423807911655, -0.551624873066791,
    0.72920227710747, -0.00992522757376041, -0.119308831407288, 0.793929190615421, 0.454270731799386,
    0.20999859125991, -0.00642109823904738, -0.023515586860454, 0.00252233108341612, -0.00764885133368119,
    0.0136176427574291, -0.0133027883575669};
  constant Integer ITa[31] = {-12, -12, -12, -12, -12, -12, -12, -12, -10, -10, -10, -8, -8, -8, -8, -5, -3, -2, -2,
    -2, -1, -1, 0, 0, 1, 3, 3, 4, 4, 10, 12};
  constant Integer JTa[31] = {0, 1, 2, 6, 14, 16, 20, 22, 1, 5, 12, 0, 2, 4, 10, 2, 0, 1, 3, 4, 0, 2, 0, 1, 1, 0, 1,
    0, 3, 4, 5};
  constant Real nTb[33] = {3.2325457364492e-05, -0.000127575556587181, -0.000475851877356068, 0.00156183014181602,
    0.105724860113781, -85.8514221132534, 724.140095480911, 0.00296475810273257, -0.00592721983365988,
    -0.0126305422818666, -0.115716196364853, 84.9000969739595, -0.0108602260086615, 0.0154304475328851,
    0.0750455441524466, 0.0252520973612982, -0.0602507901232996, -3.07622221350501, -0.0574011959864879,
    5.03471360939849, -0.925081888584834, 3.91733882917546, -77.314600713019, 9493.08762098587, -1410437.19679409,
    8491662.30819026, 0.861095729446704, 0.32334644281172, 0.873281936020439, -0.436653048526683, 0.286596714529479,
    -0.131778331276228, 0.00676682064330275};
  constant Integer ITb[33] = {-12, -12, -10, -10, -10, -10, -10, -8, -8, -8, -8, -8, -6, -6, -6, -4, -4, -3, -2, -2,
    -1, -1, -1, -1, -1, -1, 0, 0, 1, 3, 5, 6, 8};
  constant Integer JTb[33] = {0, 1, 0, 1, 5, 10, 12, 0, 1, 2, 4, 10, 0, 1, 2, 0, 1, 5, 0, 4, 2, 4, 6, 10, 14, 16, 0,
    2, 1, 1, 1, 1, 1};
  constant Real nva[32] = {0.00529944062966028, -0.170099690234461, 11.1323814312927, -2178.98123145125,
    -0.000506061827980875, 0.556495239685324, -9.43672726094016, -0.297856807561527, 93.9353943717186,
    0.0192944939465981, 0.421740664704763, -3689141.2628233, -0.00737566847600639, -0.354753242424366,
    -1.99768169338727, 1.15456297059049, 5683.6687581596, 0.00808169540124668, 0.172416341519307, 1.04270175292927,
    -0.297691372792847, 0.560394465163593, 0.275234661176914, -0.148347894866012, -0.0651142513478515,
    -2.92468715386302, 0.0664876096952665, 3.52335014263844, -0.0146340792313332, -2.24503486668184, 1.10533464706142,
    -0.0408757344495612};
  constant Integer Iva[32] = {-12, -12, -12, -12, -10, -10, -10, -8, -8, -6, -6, -6, -4, -4, -3, -2, -2, -1, -1, -1,
    -1, 0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 8};
  constant Integer Jva[32] = {6, 8, 12, 18, 4, 7, 10, 5, 12, 3, 4, 22, 2, 3, 7, 3, 16, 0, 1, 2, 3, 0, 1, 0, 1, 2, 0,
    2, 0, 2, 2, 2};
  constant Real nvb[30] = {-2.25196934336318e-09, 1.40674363313486e-08, 2.3378408528056e-06, -3.31833715229001e-05,
    0.00107956778514318, -0.271382067378863, 1.07202262490333, -0.853821329075382, -2.15214194340526e-05,
    0.00076965608822273, -0.00431136580433864, 0.453342167309331, -0.507749535873652, -100.475154528389,
    -0.219201924648793, -3.21087965668917, 607.567815637771, 0.000557686450685932, 0.18749904002955,
    0.00905368030448107, 0.285417173048685, 0.0329924030996098, 0.239897419685483, 4.82754995951394,
    -11.8035753702231, 0.169490044091791, -0.0179967222507787, 0.0371810116332674, -0.0536288335065096,
    1.6069710109252};
  constant Integer Ivb[30] = {-12, -12, -8, -8, -8, -8, -8, -8, -6, -6, -6, -6, -6, -6, -4, -4, -4, -3, -3, -2, -2,
    -1, -1, -1, -1, 0, 1, 1, 2, 2};
  constant Integer Jvb[30] = {0, 1, 0, 1, 3, 6, 7, 8, 0, 1, 2, 5, 6, 10, 3, 6, 10, 0, 2, 1, 2, 0, 1, 4, 5, 0, 0, 1, 2,
    6};
  Real pi = p/1e8;
  Real border = 1e3*(2014.64004206875 + p/1e6*(3.74696550136983 + p/1e6*(-0.0219921901054187 + p/1e6*0.875131686009950e-4)));
  Boolean liquid = h < (if p < 22.064e6 then 2087546.84511715 else border);
  'Modelica.Media.Common.HelmholtzDerivs' f;
  Real pd;
  Real pt;
  Real dp;
  Real dh;
  Real det;
algorithm
  if liquid then
    T := 760*'water.sum'(nTa, ITa, JTa, pi + 0.24, h/2.3e6 - 0.615);
    d := 1/(0.0028*'water.sum'(nva, Iva, Jva, pi + 0.128, h/2.1e6 - 0.727));
  else
    T := 860*'water.sum'(nTb, ITb, JTb, pi + 0.298, h/2.8e6 - 0.72);
    d := 1/(0.0088*'water.sum'(nvb, Ivb, Jvb, pi + 0.0661, h/2.8e6 - 0.72));
  end if;
  for i in 1:4 loop
    f := 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.f3'(d, T);
    pd := f.R_s*T*f.delta*(2*f.fdelta + f.delta*f.fdeltadelta);
    pt := f.R_s*d*f.delta*(f.fdelta - f.tau*f.fdeltatau);
    dp := d*f.R_s*T*f.delta*f.fdelta - p;
    dh := f.R_s*T*(f.tau*f.ftau + f.delta*f.fdelta) - h;
    det := (-f.R_s*f.tau^2*f.ftautau + pt/d)*pd - pt*(pd - T*pt/d)/d;
    T := T - (pd*dh - (pd - T*pt/d)/d*dp)/det;
    d := d - ((-f.R_s*f.tau^2*f.ftautau + pt/d)*dp - pt*dh)/det;
  end for;
  assert(abs(dp) <= 1e-4*p and abs(dh) <= 1e-4*abs(h), "no state of region 3 of IF97 is found for p = " + String(p) + ", h = " + String(h));
  error := 0;
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Inverses.dtofph3';

// Density in region 3: the pressure rises with it on each side of saturation, so bisection by the sign is safe; Newton's
// method ends it.
function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Inverses.dofpt3'
  input Real p;
  input Real T;
  input Real delp;
  output Real d;
  output Integer error;
protected
  Boolean saturated = p < 22.064e6;
  Boolean liquid = T < 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.tsat'(p);
  Real low = if saturated and liquid then 0.98*'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.rhol_p_R4b'(p)
             else 'water.density'('Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.g2'(p, 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.boundary23ofp'(p)));
  Real high = if saturated and not liquid then 1.02*'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.rhov_p_R4b'(p)
              else 'water.density'('Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.g1'(p, 623.15));
  'Modelica.Media.Common.HelmholtzDerivs' f;
  Real step;
  Integer passes = 0;
algorithm
  assert(p >= 16.5292e6 and T >= 623.15, "water is outside of region 3 of IF97: p = " + String(p) + ", T = " + String(T));
  while passes < 24 and high - low > 1e-6 loop
    d := (low + high)/2;
    f := 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.f3'(d, T);
    if d*f.R_s*T*f.delta*f.fdelta > p then
      high := d;
    else
      low := d;
    end if;
    passes := passes + 1;
  end while;
  d := (low + high)/2;
  for i in 1:2 loop
    f := 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.f3'(d, T);
    step := (d*f.R_s*T*f.delta*f.fdelta - p)/(f.R_s*T*f.delta*(2*f.fdelta + f.delta*f.fdeltadelta));
    d := d - step;
  end for;
  assert(abs(step) <= 1e-5*d, "no density of region 3 of IF97 is found for p = " + String(p) + ", T = " + String(T));
  error := 0;
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Inverses.dofpt3';

// ---- regions; -1 is none of them ----

function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.region_pT'
  input Real p;
  input Real T;
  input Integer mode = 0;
  output Integer region;
algorithm
  if mode <> 0 then
    region := mode;
  elseif p < 16.5292e6 then
    region := if T > 1073.15 then 5 elseif T > 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.tsat'(p) then 2 else 1;
  else
    region := if T < 623.15 then 1 elseif T < 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.boundary23ofp'(p) then 3 else 2;
  end if;
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.region_pT';

// The region of pressures from the triple point up to 100 MPa; one: it is known that there is one phase.
function 'water.region'
  input Real p;
  input Real h;
  input Boolean one;
  output Integer region;
protected
  Boolean cold = h < 2087546.84511715;
  Boolean critical = p > 22.064e6;
algorithm
  if h < 'water.enthalpy'('Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.g1'(p, 273.15)) then
    region := -1;
  elseif p < 16.5292e6 then
    if cold then
      region := if one then 1 elseif h < 'Modelica.Media.Water.IF97_Utilities.hl_p'(p) then 1 else 4;
    elseif p < 10e6 then
      region := if h > 'water.enthalpy'('Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.g5'(p, 2273.15)) then -1
                elseif h > 'water.enthalpy'('Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.g5'(p, 1073.15)) then 5
                elseif one then 2 elseif h > 'Modelica.Media.Water.IF97_Utilities.hv_p'(p) then 2 else 4;
    else
      region := if h > 'water.enthalpy'('Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.g2'(p, 1073.15)) then -1
                elseif one then 2 elseif h > 'Modelica.Media.Water.IF97_Utilities.hv_p'(p) then 2 else 4;
    end if;
  elseif cold then
    region := if h < 'water.enthalpy'('Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.g1'(p, 623.15)) then 1 elseif critical or h < 'Modelica.Media.Water.IF97_Utilities.hl_p'(p) then 3 else 4;
  else
    region := if h > 'water.enthalpy'('Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.g2'(p, 1073.15)) then -1
              elseif h > 'water.enthalpy'('Modelica.Media.Water.IF97_Utilities.BaseIF97.Basic.g2'(p, 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.boundary23ofp'(p))) then 2
              elseif critical or h > 'Modelica.Media.Water.IF97_Utilities.hv_p'(p) then 3 else 4;
  end if;
end 'water.region';

function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.region_ph'
  input Real p;
  input Real h;
  input Integer phase = 0;
  input Integer mode = 0;
  output Integer region;
algorithm
  if mode <> 0 then
    region := mode;
  elseif phase == 2 then
    region := 4;
  elseif p < 611.657 or p > 100e6 then
    region := -1;
  else
    region := 'water.region'(p, h, phase == 1);
  end if;
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Regions.region_ph';

// ---- both sides of saturation ----

function 'Modelica.Media.Common.gibbsToBoundaryProps'
  input 'Modelica.Media.Common.GibbsDerivs' g;
  output 'Modelica.Media.Common.PhaseBoundaryProperties' sat;
protected
  Real mixed = g.gpi - g.tau*g.gtaupi;
algorithm
  sat.d := 'water.density'(g);
  sat.h := 'water.enthalpy'(g);
  sat.u := sat.h - g.R_s*g.T*g.pi*g.gpi;
  sat.s := g.R_s*(g.tau*g.gtau - g.g);
  sat.cp := -g.R_s*g.tau^2*g.gtautau;
  sat.cv := sat.cp + g.R_s*mixed^2/g.gpipi;
  sat.pt := -g.p/g.T*mixed/(g.gpipi*g.pi);
  sat.pd := -g.R_s*g.T*g.gpi^2/g.gpipi;
end 'Modelica.Media.Common.gibbsToBoundaryProps';

function 'Modelica.Media.Common.helmholtzToBoundaryProps'
  input 'Modelica.Media.Common.HelmholtzDerivs' f;
  output 'Modelica.Media.Common.PhaseBoundaryProperties' sat;
algorithm
  sat.d := f.d;
  sat.u := f.R_s*f.T*f.tau*f.ftau;
  sat.h := sat.u + f.R_s*f.T*f.delta*f.fdelta;
  sat.s := f.R_s*(f.tau*f.ftau - f.f);
  sat.cv := -f.R_s*f.tau^2*f.ftautau;
  sat.cp := sat.cv + f.R_s*f.delta*(f.fdelta - f.tau*f.fdeltatau)^2/(2*f.fdelta + f.delta*f.fdeltadelta);
  sat.pt := f.R_s*f.d*f.delta*(f.fdelta - f.tau*f.fdeltatau);
  sat.pd := f.R_s*f.T*f.delta*(2*f.fdelta + f.delta*f.fdeltadelta);
end 'Modelica.Media.Common.helmholtzToBoundaryProps';

// Heat capacity at constant volume of a mixture of both phases with steam quality x: du/dT at constant v.
function 'Modelica.Media.Common.cv2Phase'
  input 'Modelica.Media.Common.PhaseBoundaryProperties' liq;
  input 'Modelica.Media.Common.PhaseBoundaryProperties' vap;
  input Real x;
  input Real T;
  input Real p;
  output Real cv;
protected
  Real xv = if liq.d <> vap.d then liq.d*vap.d/(liq.d - vap.d) else 0; // dx/dv at constant T
  Real pT = (vap.s - liq.s)*xv; // Clausius and Clapeyron
  Real vl = (liq.pt - pT)/(liq.pd*liq.d^2); // dv/dT along saturation
  Real vv = (vap.pt - pT)/(vap.pd*vap.d^2);
  Real ul = liq.cv + (T*liq.pt - p)*vl;
  Real uv = vap.cv + (T*vap.pt - p)*vv;
algorithm
  cv := (1 - x)*ul + x*uv - xv*((1 - x)*vl + x*vv)*(vap.u - liq.u);
end 'Modelica.Media.Common.cv2Phase';

// Viscosity by the formulation of 1985 [IV85].
function 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Transport.visc_dTp'
  input Real d;
  input Real T;
  input Real p;
  input Integer phase = 0;
  input Boolean checkLimits = true;
  output Real eta;
protected
  constant Real n[19] = {0.5132047, 0.3205656, -0.7782567, 0.1885447, 0.2151778, 0.7317883, 1.241044, 1.476783, -0.2818107,
    -1.070786, -1.263184, 0.1778064, 0.460504, 0.2340379, -0.4924179, -0.0417661, 0.1600435, -0.01578386, -0.003629481};
  constant Integer I[19] = {0, 1, 4, 5, 0, 1, 2, 3, 0, 1, 2, 0, 1, 2, 3, 0, 3, 1, 3};
  constant Integer J[19] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 6};
  Real delta = d/317.763;
  Real tau = 647.226/T;
  Real t = T - 273.15;
algorithm
  assert(not checkLimits or t >= 0 and (t <= 150 and p <= 500e6 or t <= 600 and p <= 350e6 or t <= 900 and p <= 300e6),
    "viscosity of water is not known for p = " + String(p) + ", T = " + String(T));
  eta := 55.071e-6/(sqrt(tau)*(1 + tau*(0.978197 + tau*(0.579829 - tau*0.202354))))
    *exp(delta*'water.sum'(n, I, J, tau - 1, delta - 1));
end 'Modelica.Media.Water.IF97_Utilities.BaseIF97.Transport.visc_dTp';
