model HodgkinHuxley "Action potential of the squid axon, in mV and ms"
  function rate "x/(1 - exp(-x)) without a hole at 0"
    input Real x;
    output Real y;
  algorithm
    y := if abs(x) < 1e-6 then 1 + x/2 else x/(1 - exp(-x));
  end rate;
  Real V(start = -65, fixed = true);
  Real m(start = 0.0529, fixed = true), h(start = 0.5961, fixed = true), n(start = 0.3177, fixed = true);
  Real INa, IK, IL, Istim;
equation
  Istim = if time > 2 and time < 3 then 15 else 0;
  INa = 120*m^3*h*(V - 50);
  IK = 36*n^4*(V + 77);
  IL = 0.3*(V + 54.4);
  1.0*der(V) = Istim - INa - IK - IL;
  der(m) = rate((V + 40)/10)*(1 - m) - 4*exp(-(V + 65)/18)*m;
  der(h) = 0.07*exp(-(V + 65)/20)*(1 - h) - h/(1 + exp(-(V + 35)/10));
  der(n) = 0.1*rate((V + 55)/10)*(1 - n) - 0.125*exp(-(V + 65)/80)*n;
  annotation(experiment(StopTime = 20));
end HodgkinHuxley;
