// Modelica.Electrical.Spice3.Internal: currents, conductances and charges of semiconductors as in SPICE3 [Nag75].
// Records are those of the exported text.

// Thermal voltage k*T/e, with the charge that SPICE3 has.
function 'spice.thermal'
  input Real temp;
  output Real v;
algorithm
  v := 1.380649e-23/1.6021918e-19*temp;
end 'spice.thermal';

// satcur*(exp(v/vte) - 1), and its derivative; from 1e4 A, or an exponent of 50, on it is a line.
function 'spice.forward'
  input Real voltage;
  input Real vte;
  input Real satcur;
  output Real current;
  output Real cond;
protected
  Real most = min(50, log(1e4/satcur));
algorithm
  cond := satcur/vte*exp(min(voltage/vte, most));
  current := if voltage >= most*vte then satcur*(exp(most) - 1) + cond*(voltage - most*vte)
             else satcur*(exp(min(voltage/vte, most)) - 1);
end 'spice.forward';

// The reverse current, -satcur*(1 + (3*vte/(e*v))^3).
function 'spice.reverse'
  input Real voltage;
  input Real vte;
  input Real satcur;
  output Real current;
  output Real cond;
protected
  Real cube = (3*vte/(voltage*2.71828182845904523536))^3;
algorithm
  current := -satcur*(1 + cube);
  cond := 3*satcur*cube/voltage;
end 'spice.reverse';

function 'Modelica.Electrical.Spice3.Internal.Functions.junction2'
  input Real voltage;
  input Real temp;
  input Real ncoeff;
  input Real satcur;
  output Real current;
  output Real cond;
protected
  constant Real gmin = 1e-12;
  Real vte = 'spice.thermal'(temp)*ncoeff;
algorithm
  if satcur <= 1e-101 then
    current := 0;
    cond := 0;
  elseif voltage >= -5*vte then
    (current, cond) := 'spice.forward'(voltage, vte, satcur);
    if voltage < min(50, log(1e4/satcur))*vte then
      current := current + gmin*voltage;
      cond := cond + gmin;
    end if;
  else
    (current, cond) := 'spice.reverse'(voltage, vte, satcur);
    current := current + gmin*voltage;
    cond := cond + gmin;
  end if;
end 'Modelica.Electrical.Spice3.Internal.Functions.junction2';

// junction2 with breakdown at -v23.
function 'Modelica.Electrical.Spice3.Internal.Functions.junction3'
  input Real voltage;
  input Real temp;
  input Real ncoeff;
  input Real satcur;
  input Real v23;
  output Real current;
  output Real cond;
protected
  constant Real gmin = 1e-12;
  Real vte = 'spice.thermal'(temp)*ncoeff;
  Real most = min(50, log(1e4/max(satcur, 1e-101)));
  Real vr = -(v23 + voltage);
algorithm
  if satcur <= 1e-101 then
    current := 0;
    cond := 0;
  elseif voltage >= most*vte then
    (current, cond) := 'spice.forward'(voltage, vte, satcur);
  elseif voltage < -v23 and vr > most*vte then
    (current, cond) := 'spice.forward'(vr, vte, satcur);
    current := -current;
  else
    if voltage >= -3*vte then
      (current, cond) := 'spice.forward'(voltage, vte, satcur);
    elseif voltage >= -v23 then
      (current, cond) := 'spice.reverse'(voltage, vte, satcur);
    else
      current := -satcur*exp(vr/vte);
      cond := -current/vte;
    end if;
    current := current + gmin*voltage;
    cond := cond + gmin;
  end if;
end 'Modelica.Electrical.Spice3.Internal.Functions.junction3';

function 'Modelica.Electrical.Spice3.Internal.Functions.junction2SPICE3MOSFETRevised'
  input Real voltage;
  input Real temp;
  input Real ncoeff;
  input Real satcur;
  output Real out_current;
  output Real out_cond;
protected
  constant Real gmin = 1e-12;
  Real vte = 'spice.thermal'(temp)*ncoeff;
algorithm
  if satcur <= 1e-101 then
    out_current := 0;
    out_cond := 0;
  elseif voltage <= 0 then
    out_current := satcur/vte*voltage;
    out_cond := satcur/vte + gmin;
  else
    (out_current, out_cond) := 'spice.forward'(voltage, vte, satcur);
    out_cond := if voltage >= min(50, log(1e4/satcur))*vte then out_cond else out_cond + gmin;
  end if;
end 'Modelica.Electrical.Spice3.Internal.Functions.junction2SPICE3MOSFETRevised';

// A junction of a bipolar transistor, and its leakage.
function 'Modelica.Electrical.Spice3.Internal.Functions.junction2SPICE3BJT'
  input Real voltage;
  input Real temp;
  input Real ncoeff1;
  input Real ncoeff2;
  input Real satcur1;
  input Real satcur2;
  output Real current1;
  output Real cond1;
  output Real current2;
  output Real cond2;
protected
  constant Real gmin = 1e-12;
  Real vtn = 'spice.thermal'(temp)*ncoeff1;
  Real vte = 'spice.thermal'(temp)*ncoeff2;
algorithm
  if voltage > -5*vtn then
    current1 := satcur1*(exp(voltage/vtn) - 1) + gmin*voltage;
    cond1 := satcur1*exp(voltage/vtn)/vtn + gmin;
    current2 := if satcur2 == 0 then 0 else satcur2*(exp(voltage/vte) - 1);
    cond2 := if satcur2 == 0 then 0 else satcur2*exp(voltage/vte)/vte;
  else
    current1 := gmin*voltage - satcur1;
    cond1 := gmin - satcur1/voltage;
    current2 := -satcur2;
    cond2 := -satcur2/voltage;
  end if;
end 'Modelica.Electrical.Spice3.Internal.Functions.junction2SPICE3BJT';

// Capacity capin*(1 - v/phij)^(-mj) and its charge, a line from depcap on.
function 'Modelica.Electrical.Spice3.Internal.Functions.junctionCapRevised'
  input Real capin;
  input Real voltage;
  input Real depcap;
  input Real mj;
  input Real phij;
  input Real f1;
  input Real f2;
  input Real f3;
  output Real capout;
  output Real charge;
protected
  Real power;
algorithm
  if voltage < depcap then
    power := if mj == 0.5 then 1/sqrt(1 - voltage/phij) else exp(-mj*log(1 - voltage/phij));
    capout := capin*power;
    charge := phij*capin*(1 - (1 - voltage/phij)*power)/(1 - mj);
  else
    capout := capin/f2*(f3 + mj*voltage/phij);
    charge := capin*f1 + capin/f2*(f3*(voltage - depcap) + mj/(2*phij)*(voltage^2 - depcap^2));
  end if;
end 'Modelica.Electrical.Spice3.Internal.Functions.junctionCapRevised';

function 'Modelica.Electrical.Spice3.Internal.Functions.junctionCapTransTime'
  input Real capin;
  input Real voltage;
  input Real depcap;
  input Real mj;
  input Real phij;
  input Real f1;
  input Real f2;
  input Real f3;
  input Real transittime;
  input Real conduct;
  input Real current;
  output Real capout;
  output Real charge;
algorithm
  (capout, charge) := 'Modelica.Electrical.Spice3.Internal.Functions.junctionCapRevised'(capin, voltage, depcap, mj, phij,
    f1, f2, f3);
  capout := capout + transittime*conduct;
  charge := charge + transittime*current;
end 'Modelica.Electrical.Spice3.Internal.Functions.junctionCapTransTime';

// Level 1 of Shichman and Hodges: cut off, saturated or linear.
function 'Modelica.Electrical.Spice3.Internal.Mos1.drainCur'
  input Real vb;
  input Real vg;
  input Real vds;
  input 'Modelica.Electrical.Spice3.Internal.Mos1.Mos1Calc' in_c;
  input 'Modelica.Electrical.Spice3.Internal.Mos1.Mos1ModelLineParams' in_p;
  input 'Modelica.Electrical.Spice3.Internal.SpiceConstants' in_C;
  input 'Modelica.Electrical.Spice3.Internal.Mos.MosModelLineVariables' in_vp;
  input Integer in_m_type;
  output 'Modelica.Electrical.Spice3.Internal.Mos1.Mos1Calc' out_c;
protected
  Real root = if vb <= 0 then sqrt(in_c.m_tPhi - vb) else max(0, sqrt(in_c.m_tPhi) - vb/(2*sqrt(in_c.m_tPhi)));
  Real over;
  Real beta = in_c.m_Beta*(1 + in_p.m_lambda*vds);
  Real v;
algorithm
  out_c := in_c;
  out_c.m_von := in_c.m_tVbi*in_m_type + in_vp.m_gamma*root;
  over := max(vg - out_c.m_von, 0);
  v := min(vds, over);
  out_c.m_vdsat := over;
  out_c.m_cdrain := beta*v*(over - v/2);
  out_c.m_gm := beta*v;
  out_c.m_gds := in_p.m_lambda*in_c.m_Beta*v*(over - v/2) + beta*(over - v);
  out_c.m_gmbs := if root <= 0 then 0 else out_c.m_gm*in_vp.m_gamma/(2*root);
end 'Modelica.Electrical.Spice3.Internal.Mos1.drainCur';

// Capacities of the gate after Meyer.
function 'Modelica.Electrical.Spice3.Internal.Mos.mosCalcDEVqmeyer'
  input Real vgs;
  input Real vgd;
  input Real vgb;
  input 'Modelica.Electrical.Spice3.Internal.Mos1.Mos1Calc' in_c;
  output 'Modelica.Electrical.Spice3.Internal.Mos.DEVqmeyer' out_qm;
protected
  Real over = vgs - in_c.m_von;
  Real vds = vgs - vgd;
  Real rest = 2*in_c.m_vdsat - vds;
algorithm
  out_qm.qm_capgb := 0;
  out_qm.qm_capgs := 0;
  out_qm.qm_capgd := 0;
  if over <= 0 then
    out_qm.qm_capgb := if over <= -in_c.m_tPhi then in_c.m_capOx/2 else -over*in_c.m_capOx/(2*in_c.m_tPhi);
    out_qm.qm_capgs := max(0, over*in_c.m_capOx/(1.5*in_c.m_tPhi) + in_c.m_capOx/3);
  elseif in_c.m_vdsat <= vds then
    out_qm.qm_capgs := in_c.m_capOx/3;
  else
    out_qm.qm_capgs := in_c.m_capOx*(1 - ((in_c.m_vdsat - vds)/rest)^2)/3;
    out_qm.qm_capgd := in_c.m_capOx*(1 - (in_c.m_vdsat/rest)^2)/3;
  end if;
  out_qm.qm_qgs := 0;
  out_qm.qm_qgb := 0;
  out_qm.qm_qgd := 0;
  out_qm.qm_vgs := 0;
  out_qm.qm_vgb := 0;
  out_qm.qm_vgd := 0;
end 'Modelica.Electrical.Spice3.Internal.Mos.mosCalcDEVqmeyer';

function 'Modelica.Electrical.Spice3.Internal.SpiceRoot.limitJunctionVoltageRevised'
  input Real voltage;
  output Real ret;
algorithm
  ret := voltage;
end 'Modelica.Electrical.Spice3.Internal.SpiceRoot.limitJunctionVoltageRevised';

// The channel of a junction transistor with vds >= 0, after Parker and Skellern.
function 'spice.channel'
  input Real vds;
  input Real over;
  input 'Modelica.Electrical.Spice3.Internal.Jfet.JfetModelLine' m;
  output Real current;
  output Real gm;
  output Real gds;
protected
  Real beta = m.m_beta*(1 + m.m_lModulation*vds);
  Real part;
  Real shape;
algorithm
  if over <= 0 then
    current := 0;
    gm := 0;
    gds := 0;
  elseif over >= vds then
    part := 2*m.m_b + 3*m.m_bFac*(over - vds);
    shape := vds*(vds*(m.m_bFac*vds - m.m_b) + over*part);
    current := beta*shape;
    gm := beta*vds*(part + 3*m.m_bFac*over);
    gds := beta*(over - vds)*part + m.m_beta*m.m_lModulation*shape;
  else
    shape := over^2*(m.m_b + over*m.m_bFac);
    current := beta*shape;
    gm := beta*over*(2*m.m_b + 3*over*m.m_bFac);
    gds := m.m_beta*m.m_lModulation*shape;
  end if;
end 'spice.channel';

// With vds < 0, drain and source change their places.
function 'Modelica.Electrical.Spice3.Internal.Jfet.drainCur'
  input Real vds;
  input Real vgs;
  input Real vgd;
  input 'Modelica.Electrical.Spice3.Internal.Fet.Fet' in_f;
  input 'Modelica.Electrical.Spice3.Internal.Jfet.JfetModelLine' in_fm;
  output 'Modelica.Electrical.Spice3.Internal.Fet.Fet' out_f;
protected
  Real current;
  Real gm;
  Real gds;
algorithm
  (current, gm, gds) := 'spice.channel'(abs(vds), (if vds >= 0 then vgs else vgd) - in_fm.m_threshold, in_fm);
  out_f := in_f;
  out_f.m_cdrain := if vds >= 0 then current else -current;
  out_f.m_gm := if vds >= 0 then gm else -gm;
  out_f.m_gds := if vds >= 0 then gds else gds + gm;
end 'Modelica.Electrical.Spice3.Internal.Jfet.drainCur';

function 'Modelica.Electrical.Spice3.Internal.Jfet.calculateGateCap'
  input 'Modelica.Electrical.Spice3.Internal.Fet.Fet' in_f;
  input Real vgs;
  input Real vgd;
  output Real capgs;
  output Real chargegs;
  output Real capgd;
  output Real chargegd;
algorithm
  (capgs, chargegs) := 'Modelica.Electrical.Spice3.Internal.Functions.junctionCapRevised'(in_f.m_tCGS, vgs,
    in_f.m_corDepCap, 0.5, in_f.m_tGatePot, in_f.m_f1, in_f.m_f2, in_f.m_f3);
  (capgd, chargegd) := 'Modelica.Electrical.Spice3.Internal.Functions.junctionCapRevised'(in_f.m_tCGD, vgd,
    in_f.m_corDepCap, 0.5, in_f.m_tGatePot, in_f.m_f1, in_f.m_f2, in_f.m_f3);
end 'Modelica.Electrical.Spice3.Internal.Jfet.calculateGateCap';
