// Modelica.Media.IdealGases and Modelica.Media.Air.MoistAir: gases by the polynomials of NASA [MZG02], their mixtures, water in air.

record 'Modelica.Media.IdealGases.Common.DataRecord'
  String name;
  Real MM;
  Real Hf;
  Real H0;
  Real Tlimit;
  Real alow[7];
  Real blow[2];
  Real ahigh[7];
  Real bhigh[2];
  Real R_s;
end 'Modelica.Media.IdealGases.Common.DataRecord';

// cp/R = a1/T^2 + a2/T + a3 + a4*T + .. + a7*T^4, h/(R*T) by integration with the constant b1, s/R with the constant b2.
function 'gases.cp'
  input Real a[7];
  input Real T;
  output Real y;
algorithm
  y := sum(a[i]*T^(i - 3) for i in 1:7);
end 'gases.cp';

function 'gases.h'
  input Real a[7];
  input Real b;
  input Real T;
  output Real y;
algorithm
  y := b - a[1]/T + a[2]*log(T) + sum(a[i]*T^(i - 2)/(i - 2) for i in 3:7);
end 'gases.h';

function 'gases.s'
  input Real a[7];
  input Real b;
  input Real T;
  output Real y;
algorithm
  y := b - a[1]/(2*T^2) - a[2]/T + a[3]*log(T) + sum(a[i]*T^(i - 3)/(i - 3) for i in 4:7);
end 'gases.s';

function 'Modelica.Media.IdealGases.Common.Functions.cp_T'
  input 'Modelica.Media.IdealGases.Common.DataRecord' data;
  input Real T;
  output Real cp;
algorithm
  cp := data.R_s*(if T < data.Tlimit then 'gases.cp'(data.alow, T) else 'gases.cp'(data.ahigh, T));
end 'Modelica.Media.IdealGases.Common.Functions.cp_T';

function 'Modelica.Media.IdealGases.Common.Functions.s0_T'
  input 'Modelica.Media.IdealGases.Common.DataRecord' data;
  input Real T;
  output Real s;
algorithm
  s := data.R_s*(if T < data.Tlimit then 'gases.s'(data.alow, data.blow[2], T) else 'gases.s'(data.ahigh, data.bhigh[2], T));
end 'Modelica.Media.IdealGases.Common.Functions.s0_T';

// The enthalpy with its reference: without that of formation, zero at 0 K (choice 1), at 25 degrees (2), or the user's offset (3).
function 'gases.reference'
  input 'Modelica.Media.IdealGases.Common.DataRecord' data;
  input Boolean exclEnthForm;
  input Integer choice;
  input Real h_off;
  output Real h;
algorithm
  h := (if exclEnthForm then -data.Hf else 0) + (if choice == 1 then data.H0 else if choice == 3 then h_off else 0);
end 'gases.reference';

function 'Modelica.Media.IdealGases.Common.Functions.h_T'
  input 'Modelica.Media.IdealGases.Common.DataRecord' data;
  input Real T;
  input Boolean exclEnthForm = true;
  input 'Modelica.Media.Interfaces.Choices.ReferenceEnthalpy' refChoice = 'Modelica.Media.Interfaces.Choices.ReferenceEnthalpy'.'ZeroAt0K';
  input Real h_off = 0;
  output Real h;
algorithm
  h := data.R_s*(if T < data.Tlimit then 'gases.h'(data.alow, data.blow[1], T) else 'gases.h'(data.ahigh, data.bhigh[1], T))
    + 'gases.reference'(data, exclEnthForm, Integer(refChoice), h_off);
end 'Modelica.Media.IdealGases.Common.Functions.h_T';

function 'Modelica.Media.IdealGases.Common.Functions.h_Tlow'
  input 'Modelica.Media.IdealGases.Common.DataRecord' data;
  input Real T;
  input Boolean exclEnthForm = true;
  input 'Modelica.Media.Interfaces.Choices.ReferenceEnthalpy' refChoice = 'Modelica.Media.Interfaces.Choices.ReferenceEnthalpy'.'ZeroAt0K';
  input Real h_off = 0;
  output Real h;
algorithm
  h := data.R_s*'gases.h'(data.alow, data.blow[1], T) + 'gases.reference'(data, exclEnthForm, Integer(refChoice), h_off);
end 'Modelica.Media.IdealGases.Common.Functions.h_Tlow';

// Residuals whose root is a temperature: of a gas with this enthalpy, or with this entropy at a pressure. The entropy of the
// data is that at 101325 Pa.
function '*.T_h.f_nonlinear'
  input Real u;
  input 'Modelica.Media.IdealGases.Common.DataRecord' data;
  input Real h;
  output Real y;
algorithm
  y := 'Modelica.Media.IdealGases.Common.Functions.h_T'(data, u) - h;
end '*.T_h.f_nonlinear';

function '*.T_ps.f_nonlinear'
  input Real u;
  input 'Modelica.Media.IdealGases.Common.DataRecord' data;
  input Real p;
  input Real s;
  output Real y;
algorithm
  y := 'Modelica.Media.IdealGases.Common.Functions.s0_T'(data, u) - data.R_s*log(p/101325) - s;
end '*.T_ps.f_nonlinear';

// ---- transport ----

// The viscosity of a gas of low density by the method of Chung and others [PPO01 (9-4.10)], in SI units.
function 'Modelica.Media.IdealGases.Common.Functions.dynamicViscosityLowPressure'
  input Real T;
  input Real Tc;
  input Real M;
  input Real Vc;
  input Real w;
  input Real mu;
  input Real k = 0;
  output Real eta;
protected
  Real dipole = 0.1313*mu/sqrt(Vc*Tc);
  Real shape = 1 - 0.2756*w + 0.059035*dipole^4 + k;
  Real t = 1.2593*T/Tc;
  Real collision = 1.16145*t^(-0.14874) + 0.52487*exp(-0.7732*t) + 2.16178*exp(-2.43787*t);
algorithm
  eta := 40.785*10^(-9.5)*shape*sqrt(M*T)/(Vc^(2/3)*collision);
end 'Modelica.Media.IdealGases.Common.Functions.dynamicViscosityLowPressure';

// Eucken's conductivity (method 1), and the modified one.
function 'Modelica.Media.IdealGases.Common.Functions.thermalConductivityEstimate'
  input Real Cp;
  input Real eta;
  input Integer method = 1;
  input 'Modelica.Media.IdealGases.Common.DataRecord' data;
  output Real lambda;
protected
  Real cv = Cp - data.R_s;
algorithm
  lambda := eta*(if method == 1 then cv + 9/4*data.R_s else cv*(1.32 + 1.77*data.R_s/cv));
end 'Modelica.Media.IdealGases.Common.Functions.thermalConductivityEstimate';

// Wilke's sum over components, y[i]*p[i]/sum(y[j]*phi[i, j]), where phi[i, j] = (1 + sqrt(r[i]/r[j])*(M[j]/M[i])^(1/4))^2/sqrt(8*(1 +
// M[i]/M[j])). For viscosities r = p; for conductivities by Mason and Saxena r[i]*M[j]/(r[j]*M[i]) are ratios of viscosities.
function 'gases.mixture'
  input Real y[:];
  input Real M[size(y, 1)];
  input Real p[size(y, 1)];
  input Real r[size(y, 1)];
  output Real mean;
protected
  Integer n = size(y, 1);
algorithm
  mean := sum(y[i]*p[i]/sum(y[j]*(1 + sqrt(r[i]/r[j])*(M[j]/M[i])^0.25)^2/sqrt(8*(1 + M[i]/M[j])) for j in 1:n) for i in 1:n);
end 'gases.mixture';

function '*.gasMixtureViscosity'
  input Real yi[:];
  input Real M[size(yi, 1)];
  input Real eta[size(yi, 1)];
  output Real etam;
algorithm
  etam := 'gases.mixture'(yi, M, eta, eta);
end '*.gasMixtureViscosity';

function '*.lowPressureThermalConductivity'
  input Real y[:];
  input Real T;
  input Real Tc[size(y, 1)];
  input Real Pc[size(y, 1)];
  input Real M[size(y, 1)];
  input Real lambda[size(y, 1)];
  output Real lambdam;
protected
  Integer n = size(y, 1);
  Real single[size(y, 1)] = {(exp(0.0464*T/Tc[i]) - exp(-0.2412*T/Tc[i]))/(Tc[i]*M[i]^3/Pc[i]^4)^(1/6) for i in 1:n};
algorithm
  lambdam := 'gases.mixture'(y, M, lambda, {single[i]*M[i] for i in 1:n});
end '*.lowPressureThermalConductivity';

function '*.massToMoleFractions'
  input Real X[:];
  input Real MMX[size(X, 1)];
  output Real moleFractions[size(X, 1)];
algorithm
  moleFractions := X./MMX/sum(X./MMX);
end '*.massToMoleFractions';

// ---- water in air ----

// From `neg` for x <= -width to `pos` for x >= width, smooth in all derivatives.
function 'gases.splice'
  input Real pos;
  input Real neg;
  input Real x;
  input Real width;
  output Real y;
protected
  Real t = x/width;
  Real part;
algorithm
  part := if t <= -0.999999999 then 0 elseif t >= 0.999999999 then 1 else (tanh(tan(t*3.14159265358979323846/2)) + 1)/2;
  y := pos*part + (1 - part)*neg;
end 'gases.splice';

// The pressure over liquid water [WP93] and over ice [WSP94], which meet at the triple point.
function 'gases.saturation'
  input Real T;
  output Real p;
protected
  Real r = 1 - T/647.096;
  Real t = T/273.16;
  Real liquid = 22.064e6*exp(647.096/T*(-7.85951783*r + 1.84408259*r^1.5 - 11.7866497*r^3 + 22.6807411*r^3.5 - 15.9618719*r^4
    + 1.80122502*r^7.5));
  Real ice = 611.657*exp(-13.9281690*(1 - t^(-1.5)) + 34.7078238*(1 - t^(-1.25)));
algorithm
  p := 'gases.splice'(liquid, ice, T - 273.16, 1);
end 'gases.saturation';

// beside '*.sublimationPressureIce'
function '*.saturationPressure'
  input Real Tsat;
  output Real psat;
algorithm
  psat := 'gases.saturation'(Tsat);
end '*.saturationPressure';

// The residual whose root is the temperature with this pressure.
// beside '*.sublimationPressureIce'
function '*.saturationTemperature.f_nonlinear'
  input Real u;
  input Real p;
  output Real y;
algorithm
  y := 'gases.saturation'(u) - p;
end '*.saturationTemperature.f_nonlinear';

// Enthalpy of liquid water or ice around 1 bar by constant heat capacities.
// beside '*.sublimationPressureIce'
function '*.enthalpyOfWater'
  input Real T;
  output Real h;
algorithm
  h := 'gases.splice'(4200*(T - 273.15), 2050*(T - 273.15) - 333000, T - 273.16, 0.1);
end '*.enthalpyOfWater';

// The larger of two numbers, smooth where they differ by less than dx.
// beside '*.Utilities.spliceFunction'
function '*.Utilities.smoothMax'
  input Real x1;
  input Real x2;
  input Real dx;
  output Real y;
protected
  Real m = max(x1, x2);
algorithm
  y := m + dx/4*log(exp(4/dx*(x1 - m)) + exp(4/dx*(x2 - m)));
end '*.Utilities.smoothMax';
