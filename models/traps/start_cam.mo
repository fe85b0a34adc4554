model start_cam "a roller on an eccentric cam: contact point, angles and forces by definitions"
  parameter Real e = 0.3, R = 1, rho = 0.2, m = 2, J = 0.5, k = 50, g = 9.81;
  Real phi(start = 0.4, fixed = true), w(start = 1, fixed = true);
  Real cx, cy, d, s, psi, c, px, py, n, lever, torque, L, y, gap, u;
equation
  cx = e*cos(phi);
  cy = e*sin(phi);
  d = sqrt(cx^2 + cy^2);
  L = R + rho;
  s = cx/L;
  c = sqrt(1 - s^2);
  psi = atan2(s, c);
  y = cy + L*c;
  px = cx - R*s;
  py = cy + R*c;
  gap = sqrt(px^2 + (y - py)^2)/rho;
  n = (m*g + k*(y - R))/c;
  lever = (cx*py - cy*px)/d;
  u = 1/lever;
  torque = -n*lever/gap;
  der(phi) = w;
  J*der(w) = torque + 1e-3/u;
  annotation(experiment(StopTime = 1));
end start_cam;
