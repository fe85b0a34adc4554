// Four cells in a ring of pipes: what flows out of three cells flows into the fourth. The last
// balance follows from the others, and the level of the pressure is open.
model Pressure "Incompressible flow in a ring without a level of the pressure"
  parameter Real nu = 0.1;
  Real u[4](each start = 1) "flow between cells";
  Real p[4]; // named: p[1] p[2] p[3] p[4]
equation
  der(u[1]) = -nu*u[1] - (p[2] - p[1]);
  der(u[2]) = -nu*u[2] - (p[3] - p[2]);
  der(u[3]) = -nu*u[3] - (p[4] - p[3]);
  der(u[4]) = -nu*u[4] - (p[1] - p[4]) + 0.1;
  u[1] - u[4] = 0.1*sin(1.0); // culprit
  u[2] - u[1] = 0.2; // culprit
  u[3] - u[2] = -0.2; // culprit
  u[4] - u[3] = -0.1*sin(1.0); // culprit
end Pressure;
