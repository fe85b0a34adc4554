// Two links with flexible joints and a prescribed path of the hand: S. L. Campbell and E.
// Griepentrog, Solvability of general differential algebraic equations, SIAM J. Sci. Comput. 16
// (1995); after A. De Luca and A. Isidori. Index 5. The structure sees only 3: the controls enter
// two of the equations of motion by their difference alone, which a combination of the two
// eliminates.
model RobotArm "Campbell and Griepentrog's robot arm, index 5"
  parameter Real w = 1 "of the given function of time";
  Real x1(start = 0), x3(start = 1) "angles of the joints";
  Real x2(start = 0.95) "angle of a motor";
  Real v1(start = -1), v2(start = -2.5), v3(start = 0);
  Real u1(start = -4.3), u2(start = -0.7) "controls";
  Real a(start = 1.2), b(start = 0.3), c(start = 0.5), d(start = 0.3) "functions of x3";
equation
  a*(2 - cos(x3)^2) = 2;
  b*(2 - cos(x3)^2) = cos(x3);
  c*(2 - cos(x3)^2) = sin(x3);
  d*(2 - cos(x3)^2) = sin(x3)*cos(x3);
  der(x1) = v1;
  der(x2) = v2;
  der(x3) = v3;
  der(v1) = 2*c*(v1 + v3)^2 + v1^2*d + (2*x3 - x2)*(a + 2*b) + a*(u1 - u2);
  der(v2) = -2*c*(v1 + v3)^2 - v1^2*d + (2*x3 - x2)*(1 - 3*a - 2*b) - a*u1 + (a + 1)*u2;
  der(v3) = -2*c*(v1 + v3)^2 - v1^2*d + (2*x3 - x2)*(a - 9*b) - 2*v1^2*c - d*(v1 + v3)^2
    - (a + b)*(u1 - u2);
  cos(x1) + cos(x1 + x3) = cos(1 - exp(w*time)) + cos(1 - w*time) "path";
  sin(x1) + sin(x1 + x3) = sin(1 - exp(w*time)) + sin(1 - w*time);
  annotation(experiment(StartTime = 0, StopTime = 0.5, Tolerance = 1e-7));
end RobotArm;
