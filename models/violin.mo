// V. Brasey and E. Hairer, SIAM J. Numer. Anal. 30 (1993), section 6.3: the wave equation of a
// string by lines, N = 20, bowed in the middle. While the bow slips, (6.5) with (6.6) is an ODE;
// while it sticks, (6.5) with (6.8) has index 2 and z is the force that keeps it there.
model Violin "String of a violin under a bow that sticks and slips: index 0 and 2 by turns"
  parameter Integer N = 20 "intervals of the string, even";
  final parameter Integer mid = div(N, 2) "where the bow is";
  parameter Real v = 0.3 "speed of the bow";
  parameter Real slipForce = 12 "friction of the slipping bow";
  parameter Real stickForce = 16 "greatest friction of the sticking bow";
  Real u[N - 1](each start = 0, each fixed = true) "displacement at the inner points";
  Real w[N - 1](each start = 0, each fixed = true) "velocity";
  Real z(start = -1) "friction relative to that of the slipping bow, against the motion";
  Real hold "the z that keeps the string from accelerating under the bow";
  Real lead "how far the velocities are from meeting; out of the way while they are one";
  Real excess "of the force over what holds; likewise out of the way while the bow slips";
  Boolean stick(start = false, fixed = true) "the bow sticks";
  discrete Real direction(start = -1, fixed = true) "of the string against the bow while it slips";
equation
  for i in 1:N - 1 loop
    der(u[i]) = w[i];
  end for;
  der(w[1]) = N^2*(u[2] - 2*u[1]);
  for i in 2:mid - 1 loop
    der(w[i]) = N^2*(u[i - 1] - 2*u[i] + u[i + 1]);
  end for;
  der(w[mid]) = N^2*(u[mid - 1] - 2*u[mid] + u[mid + 1]) - slipForce*z;
  for i in mid + 1:N - 2 loop
    der(w[i]) = N^2*(u[i - 1] - 2*u[i] + u[i + 1]);
  end for;
  der(w[N - 1]) = N^2*(u[N - 2] - 2*u[N - 1]);
  if stick then
    w[mid] = v;
  else
    z = direction;
  end if;
  hold = N^2*(u[mid - 1] - 2*u[mid] + u[mid + 1])/slipForce;
  lead = if pre(stick) then 1 else direction*(w[mid] - v);
  excess = if pre(stick) then noEvent(abs(hold)) - stickForce/slipForce else -1;
  when lead < 0 then
    stick = noEvent(abs(hold) <= stickForce/slipForce);
    direction = noEvent(if hold < 0 then -1 else 1);
  elsewhen excess > 0 then
    stick = false;
    direction = noEvent(if hold < 0 then -1 else 1);
  end when;
  annotation(experiment(StartTime = 0, StopTime = 10, Tolerance = 1e-7));
end Violin;
