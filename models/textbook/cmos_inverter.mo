model CmosInverter "CMOS inverter that drives a capacitor"
  function current "drain current in mA of a MOSFET, quadratic model"
    input Real vgs;
    input Real vds;
    input Real k;
    output Real i;
  protected
    Real vov;
  algorithm
    vov := vgs - 1.0;
    if vov <= 0 then
      i := 0;
    elseif vds < vov then
      i := k*(vov - vds/2)*vds;
    else
      i := k/2*vov^2;
    end if;
  end current;
  parameter Real Vdd = 5 "V", C = 1 "pF";
  Real vin, vout(start = 5, fixed = true), iN, iP;
equation
  // time in ns
  vin = if time < 2 then 0 elseif time < 3 then 5*(time - 2) elseif time < 20 then 5 else 0;
  iN = current(vin, vout, 0.8);
  iP = current(Vdd - vin, Vdd - vout, 0.4);
  C*der(vout) = iP - iN;
  annotation(experiment(StopTime = 40));
end CmosInverter;
