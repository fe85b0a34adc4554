// [BCP96] 6.3: the index-2 trajectory problem of models/trajectory2.mo in inertial coordinates, (6.3.3).
model TrajectoryInertial "Prescribed trajectory in inertial coordinates, index 2"
  constant Real pi = 2*asin(1.0); constant Real deg = pi/180;
  parameter Real ae = 20902900, mu = 0.14076539e17, Om = 0.72921159e-4, m = 2.890532728, S = 1;
  Real x[3](start = {ae+1e5,0,0}, each nominal=1e7), v[3](each nominal=1e4);
  Real alpha(start=2.6728700742*deg), beta(start=-0.0522095862*deg);
  Real r, H, vr[3] "relative velocity, inertial axes", V, up[3], east[3], north[3], g, gamma(start=-deg), A(start=45*deg), rho, CL, CD, L, D, e1[3], e2[3], n1[3], rxy;
initial equation
  H = 100000; x[3] = 0; x[2] = 0; V = 12000;
equation
  r = sqrt(x[1]^2+x[2]^2+x[3]^2); H = r - ae; g = mu/r^2; rxy = sqrt(x[1]^2+x[2]^2);
  vr[1] = v[1] + Om*x[2]; vr[2] = v[2] - Om*x[1]; vr[3] = v[3];
  V = sqrt(vr[1]^2+vr[2]^2+vr[3]^2);
  for i in 1:3 loop up[i] = x[i]/r; end for;
  east[1] = -x[2]/rxy; east[2] = x[1]/rxy; east[3] = 0;
  north[1] = up[2]*east[3]-up[3]*east[2]; north[2] = up[3]*east[1]-up[1]*east[3]; north[3] = up[1]*east[2]-up[2]*east[1];
  sin(gamma) = (vr[1]*up[1]+vr[2]*up[2]+vr[3]*up[3])/V;
  (vr[1]*north[1]+vr[2]*north[2]+vr[3]*north[3])*sin(A) = (vr[1]*east[1]+vr[2]*east[2]+vr[3]*east[3])*cos(A);
  rho = 0.002378*exp(-H/23800); CL = 0.01*alpha/deg; CD = 0.04+0.1*CL^2;
  L = 0.5*rho*CL*S*V^2; D = 0.5*rho*CD*S*V^2;
  for i in 1:3 loop
    e1[i] = (up[i] - sin(gamma)*vr[i]/V)/cos(gamma) "lift direction for beta = 0";
    n1[i] = -sin(A)*north[i] + cos(A)*east[i] "to the right, increases A";
    e2[i] = cos(beta)*e1[i] + sin(beta)*n1[i];
    der(x[i]) = v[i];
    m*der(v[i]) = -m*g*up[i] - D*vr[i]/V + L*e2[i];
  end for;
  gamma = -deg*(1+9*(time/300)^2); A = deg*(45+90*(time/300)^2);
  annotation(experiment(StopTime=300,Tolerance=1e-6));
end TrajectoryInertial;
