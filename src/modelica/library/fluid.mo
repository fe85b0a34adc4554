// Modelica.Fluid.Utilities and friction in pipes: laws of flow made smooth around zero.

// The cubic through the origin with slope y0d there, and through (x1, y1) with slope y1d.
function 'Modelica.Fluid.Utilities.evaluatePoly3_derivativeAtZero'
  input Real x;
  input Real x1;
  input Real y1;
  input Real y1d;
  input Real y0d;
  output Real y;
protected
  Real t = x/x1;
algorithm
  y := t*(x1*y0d + t*((3*y1 - x1*y1d - 2*x1*y0d) + t*(x1*(y1d + y0d) - 2*y1)));
end 'Modelica.Fluid.Utilities.evaluatePoly3_derivativeAtZero';

// The slope at zero of two cubics, from the origin to (x1, y1) and to (x2, y2), whose second derivatives agree there.
function 'fluid.slopeAtZero'
  input Real x1;
  input Real y1;
  input Real y1d;
  input Real x2;
  input Real y2;
  input Real y2d;
  output Real y0d;
protected
  Real w = x2/x1;
algorithm
  y0d := ((3*y2 - x2*y2d)/w - (3*y1 - x1*y1d)*w)/(2*x1*(1 - w));
end 'fluid.slopeAtZero';

// sqrt(k1*x), and -sqrt(-k2*x) for x < 0, where k1 >= k2; between -x1*k2/k1 and x1 it is made of two cubics, whose slope
// at zero is yd0 if that is used. A slope up to sqrt(8.75*k/x) keeps them increasing.
function 'Modelica.Fluid.Utilities.regRoot2.regRoot2_utility'
  input Real x;
  input Real x1;
  input Real k1;
  input Real k2;
  input Boolean use_yd0;
  input Real yd0;
  output Real y;
protected
  Real x2 = if k2 > 0 then -x1*(k2/k1) else -x1;
  Real y1 = sqrt(k1*x1);
  Real y2 = -sqrt(-k2*x2);
  Real y1d = y1/(2*x1);
  Real y2d = y2/(2*x2);
  Real slope;
algorithm
  if k1 <= 0 then
    y := 0;
  elseif x <= x2 then
    y := -sqrt(k2*abs(x));
  else
    slope := if use_yd0 then yd0 else 'fluid.slopeAtZero'(x1, y1, y1d, x2, y2, y2d);
    slope := min(slope, 0.9*min(sqrt(8.75*k1/x1), sqrt(-8.75*k2/x2)));
    y := if x >= 0 then 'Modelica.Fluid.Utilities.evaluatePoly3_derivativeAtZero'(x, x1, y1, y1d, slope)
         else 'Modelica.Fluid.Utilities.evaluatePoly3_derivativeAtZero'(x, x2, y2, y2d, slope);
  end if;
end 'Modelica.Fluid.Utilities.regRoot2.regRoot2_utility';

function 'Modelica.Fluid.Utilities.regRoot2'
  input Real x;
  input Real x_small = 0.01;
  input Real k1 = 1;
  input Real k2 = 1;
  input Boolean use_yd0 = false;
  input Real yd0 = 1;
  output Real y;
algorithm
  y := if x >= x_small then sqrt(k1*x) else if x <= -x_small then -sqrt(k2*abs(x))
       else if k1 >= k2 then 'Modelica.Fluid.Utilities.regRoot2.regRoot2_utility'(x, x_small, k1, k2, use_yd0, yd0)
       else -'Modelica.Fluid.Utilities.regRoot2.regRoot2_utility'(-x, x_small, k2, k1, use_yd0, yd0);
end 'Modelica.Fluid.Utilities.regRoot2';

// k1*x^2, and -k2*x^2 for x < 0; two cubics for abs(x) < x_small, whose slope at zero is yd0 if that is used. A slope up
// to sqrt(5)*k*x_small keeps them increasing.
function 'Modelica.Fluid.Utilities.regSquare2'
  input Real x;
  input Real x_small = 0.01;
  input Real k1 = 1;
  input Real k2 = 1;
  input Boolean use_yd0 = false;
  input Real yd0 = 1;
  output Real y;
protected
  Real y1 = k1*x_small^2;
  Real y2 = -k2*x_small^2;
  Real y1d = 2*k1*x_small;
  Real y2d = 2*k2*x_small;
  Real slope = if use_yd0 then yd0 else 'fluid.slopeAtZero'(x_small, y1, y1d, -x_small, y2, y2d);
algorithm
  slope := min(slope, 0.9*sqrt(5.0)*min(k1, k2)*x_small);
  y := if x >= x_small then k1*x^2 else if x <= -x_small then -k2*x^2
       else if x >= 0 then 'Modelica.Fluid.Utilities.evaluatePoly3_derivativeAtZero'(x, x_small, y1, y1d, slope)
       else 'Modelica.Fluid.Utilities.evaluatePoly3_derivativeAtZero'(x, -x_small, y2, y2d, slope);
end 'Modelica.Fluid.Utilities.regSquare2';

// A monotone interpolant between (x0, y0) with slope y0d and (x1, y1) with slope y1d, after [GM91]: the cubic where that
// is monotone and not too flat, else two cubics with a line of slope c between them. c of the cubic is its slope in the
// middle.
function 'Modelica.Fluid.Utilities.regFun3'
  input Real x;
  input Real x0;
  input Real x1;
  input Real y0;
  input Real y1;
  input Real y0d;
  input Real y1d;
  output Real y;
  output Real c;
protected
  constant Real eps = 2.220446049250313e-16;
  Real h = x1 - x0;
  Real t = (x - x0)/h;
  Real m = (y1 - y0)/h;
  Real c2 = 3*m - 2*y0d - y1d;
  Real c3 = y0d + y1d - 2*m;
  Boolean same = abs(y0d - y1d) <= 100*eps;
  Real mu; // from x0 to the point of inflection, and from there to x1
  Real eta;
  Real least; // slope at the inflection
  Real bound; // slope that c must reach
  Real line;
  Real theta;
  Real rho;
algorithm
  assert(x0 < x1, "regFun3 wants x0 < x1, not " + String(x0) + " and " + String(x1));
  assert(y0d*y1d >= 0 or abs(y0d) < eps or abs(y1d) < eps,
    "regFun3 has no monotone interpolant for slopes " + String(y0d) + " and " + String(y1d));
  y := y0 + h*t*(y0d + t*(c2 + t*c3));
  c := if m == 0 then 0 else y0d + c2 + 3*c3/4;
  if m == 0 then
    y := y0;
  elseif abs(c3) >= 100*eps then
    mu := -h*c2/(3*c3);
    eta := h - mu;
    least := y0d - c2^2/(3*c3);
    bound := if same then y0d else least;
    line := sign(m)*min(abs(least), abs(m))/4;
    if not (same and c2 + c3 > 0) and (mu > 0 and eta < h and m*least <= 0 or
        abs(line) < abs(bound) and bound*m >= 0 or abs(line) < abs(m)/10) then
      c := if abs(line) < abs(bound) and bound*m >= 0 then bound else line;
      c := if abs(c) < abs(m)/10 then m/10 else c;
      theta := (y0d*mu + y1d*eta)/h;
      c := if abs(theta - c) < 1e-6*abs(c) then (1 - 1e-6)*theta else c;
      rho := 3*(m - c)/(theta - c);
      y := if x < x0 + rho*mu then
             y0 + c*(x - x0) + (y0d - c)/max((rho*mu)^2, 100*eps)/3*((x - x0 - rho*mu)^3 + (rho*mu)^3)
           elseif x < x1 - rho*eta then
             y0 + c*(x - x0) + (y0d - c)/max((rho*mu)^2, 100*eps)/3*(rho*mu)^3
           else
             y1 + c*(x - x1) + (y1d - c)/max((rho*eta)^2, 100*eps)/3*((x - x1 + rho*eta)^3 - (rho*eta)^3);
    end if;
  end if;
end 'Modelica.Fluid.Utilities.regFun3';

// Friction in a pipe, where lambda2 = lambda*Re^2: Hagen and Poiseuille up to Re1, Colebrook and White (by dp) or Swamee
// and Jain (by flow, [SJ76]) from Re2 on, and between them a cubic of the logarithms. These are the functions of
// Modelica.Fluid.Pipes.BaseClasses.WallFriction.Detailed.
function 'fluid.turbulentReynolds'
  input Real lambda2;
  input Real Delta;
  output Real Re;
  output Real exponent; // d log(Re)/d log(lambda2)
protected
  Real argument = 2.51/sqrt(lambda2) + 0.27*Delta;
algorithm
  Re := -2*sqrt(lambda2)*log10(argument);
  exponent := 0.5 + 2.51/(log(10.0)*argument*Re);
end 'fluid.turbulentReynolds';

function 'fluid.turbulentLambda2'
  input Real Re;
  input Real Delta;
  output Real lambda2;
  output Real exponent; // d log(lambda2)/d log(Re)
protected
  Real argument = Delta/3.7 + 5.74/Re^0.9;
algorithm
  lambda2 := 0.25*(Re/log10(argument))^2;
  exponent := 2 + 2*0.9*5.74/(log(argument)*Re^0.9*argument);
end 'fluid.turbulentLambda2';

// y(x) between (x1, y1) with exponent 1 and (x2, y2) with the given one, cubic in the logarithms.
function 'fluid.logarithmicCubic'
  input Real x;
  input Real x1;
  input Real x2;
  input Real y1;
  input Real y2;
  input Real end_exponent;
  output Real y;
  output Real exponent;
protected
  Real h = log(x2/x1);
  Real m = log(y2/y1)/h;
  Real t = log(x/x1)/h;
algorithm
  y := y1*exp(h*t*(1 + t*((3*m - 2 - end_exponent) + t*(1 + end_exponent - 2*m))));
  exponent := 1 + t*(2*(3*m - 2 - end_exponent) + 3*t*(1 + end_exponent - 2*m));
end 'fluid.logarithmicCubic';

function '*.WallFriction.pressureLoss_m_flow.interpolateInRegion2'
  input Real Re;
  input Real Re1;
  input Real Re2;
  input Real Delta;
  output Real lambda2;
protected
  Real end_lambda2;
  Real end_exponent;
  Real unused;
algorithm
  (end_lambda2, end_exponent) := 'fluid.turbulentLambda2'(Re2, Delta);
  (lambda2, unused) := 'fluid.logarithmicCubic'(Re, Re1, Re2, 64*Re1, end_lambda2, end_exponent);
end '*.WallFriction.pressureLoss_m_flow.interpolateInRegion2';

// Mass flow of the loss dp_fric, and its derivative.
// beside '*.WallFriction.pressureLoss_m_flow.interpolateInRegion2'
function '*.WallFriction.Internal.m_flow_of_dp_fric'
  input Real dp_fric;
  input Real rho_a;
  input Real rho_b;
  input Real mu_a;
  input Real mu_b;
  input Real length;
  input Real diameter;
  input Real crossArea;
  input Real Re1;
  input Real Re2;
  input Real Delta;
  output Real m_flow;
  output Real dm_flow_ddp_fric;
protected
  Real rho = if dp_fric >= 0 then rho_a else rho_b;
  Real mu = if dp_fric >= 0 then mu_a else mu_b;
  Real factor = 2*diameter^3*rho/(length*mu^2);
  Real lambda2 = abs(dp_fric)*factor;
  Real Re = lambda2/64;
  Real exponent;
  Real end_lambda2;
  Real end_Re;
  Real end_exponent;
  Real slope = factor/64;
  Real unused;
algorithm
  if Re > Re1 then
    (Re, exponent) := 'fluid.turbulentReynolds'(lambda2, Delta);
    if Re < Re2 then
      (end_lambda2, unused) := 'fluid.turbulentLambda2'(Re2, Delta);
      (end_Re, end_exponent) := 'fluid.turbulentReynolds'(end_lambda2, Delta);
      (Re, exponent) := 'fluid.logarithmicCubic'(lambda2, 64*Re1, end_lambda2, Re1, end_Re, end_exponent);
    end if;
    slope := Re*exponent/abs(dp_fric);
  end if;
  m_flow := crossArea*mu/diameter*(if dp_fric >= 0 then Re else -Re);
  dm_flow_ddp_fric := crossArea*mu/diameter*slope;
end '*.WallFriction.Internal.m_flow_of_dp_fric';

// The loss of a mass flow, and its derivative.
// beside '*.WallFriction.pressureLoss_m_flow.interpolateInRegion2'
function '*.WallFriction.Internal.dp_fric_of_m_flow'
  input Real m_flow;
  input Real rho_a;
  input Real rho_b;
  input Real mu_a;
  input Real mu_b;
  input Real length;
  input Real diameter;
  input Real crossArea;
  input Real Re1;
  input Real Re2;
  input Real Delta;
  output Real dp_fric;
  output Real ddp_fric_dm_flow;
protected
  Real rho = if m_flow >= 0 then rho_a else rho_b;
  Real mu = if m_flow >= 0 then mu_a else mu_b;
  Real Re = abs(m_flow)*diameter/(crossArea*mu);
  Real factor = length*mu^2/(2*rho*diameter^3);
  Real lambda2 = 64*Re;
  Real slope = 64*diameter/(crossArea*mu);
  Real exponent;
  Real end_lambda2;
  Real end_exponent;
algorithm
  if Re > Re1 then
    if Re >= Re2 then
      (lambda2, exponent) := 'fluid.turbulentLambda2'(Re, Delta);
    else
      (end_lambda2, end_exponent) := 'fluid.turbulentLambda2'(Re2, Delta);
      (lambda2, exponent) := 'fluid.logarithmicCubic'(Re, Re1, Re2, 64*Re1, end_lambda2, end_exponent);
    end if;
    slope := lambda2*exponent/abs(m_flow);
  end if;
  dp_fric := factor*(if m_flow >= 0 then lambda2 else -lambda2);
  ddp_fric_dm_flow := factor*slope;
end '*.WallFriction.Internal.dp_fric_of_m_flow';
