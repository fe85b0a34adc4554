model DiodeOnset "sine source, R, L, diode into C and load: the diode conducts within the last part of a step"
  parameter Real R(unit="Ohm")=10, L(unit="H")=1e-3, C(unit="F")=1e-5, RL(unit="Ohm")=1000;
  parameter Real Is(unit="A")=1e-14, Vt(unit="V")=0.02585, f(unit="Hz")=1000, A(unit="V")=5;
  constant Real pi=3.141592653589793;
  Real e1(unit="V"), e2(unit="V"), e3(unit="V"), e4(unit="V",start=0,fixed=true);
  Real iV(unit="A"), iL(unit="A",start=0,fixed=true), iD(unit="A");
equation
  e1 = A*sin(2*pi*f*time);              // source
  iV + (e1-e2)/R = 0;                   // node 1
  (e2-e1)/R + iL = 0;                   // node 2
  L*der(iL) = e2 - e3;                  // inductor
  -iL + iD = 0;                         // node 3
  iD = Is*(exp((e3-e4)/Vt)-1) + 1e-12*(e3-e4);          // diode
  C*der(e4) + e4/RL - iD = 0;           // node 4
  annotation(experiment(StopTime=0.01));
end DiodeOnset;
