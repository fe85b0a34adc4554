model KalmanBucy "Riccati equation of a continuous Kalman filter"
  parameter Real A[2, 2] = [0, 1; -2, -0.5], C[1, 2] = [1, 0], Q[2, 2] = [0, 0; 0, 1], R = 0.1;
  Real P[2, 2](start = [1, 0; 0, 1], each fixed = true);
equation
  der(P) = A*P + P*transpose(A) - P*transpose(C)*C*P/R + Q;
  annotation(experiment(StopTime = 5));
end KalmanBucy;
