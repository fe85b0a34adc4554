model KalmanFilter "A Kalman filter estimates place and speed from noisy samples of the place"
  parameter Real Ts = 0.1, Q = 0.01, R = 0.04;
  Real x(start = 0, fixed = true), v(start = 1, fixed = true);
  discrete Real xh[2](each start = 0, each fixed = true), P[2, 2](start = [1, 0; 0, 1], each fixed = true);
  discrete Real xp[2](each start = 0, each fixed = true), M[2, 2](each start = 0, each fixed = true), K[2](each start = 0, each fixed = true), z(start = 0, fixed = true);
  parameter Real F[2, 2] = [1, Ts; 0, 1];
equation
  der(x) = v;
  der(v) = -0.5*sin(time);
  when sample(Ts, Ts) then
    z = x + 0.2*sin(50*time) "what is measured";
    xp = F*pre(xh);
    M = F*pre(P)*transpose(F) + [0, 0; 0, Q];
    K = M[:, 1]/(M[1, 1] + R);
    xh = xp + K*(z - xp[1]);
    P = M - matrix(K)*transpose(matrix(M[:, 1]));
  end when;
  annotation(experiment(StopTime = 5.05));
end KalmanFilter;
