// x = sin(t) twice, the second time in other units: vx' = -sin(t) is carried by l1 + 1000 l2, of
// least norm l1 = sin(t)/(1 + 1e6), l2 = 1000 l1.
model DrivenRedundant "A driven position said twice, in metres and millimetres"
  Real x(start = 0), y(start = 1, fixed = true), vx, vy(start = 0, fixed = true), l1, l2;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -l1 - 1000*l2;
  der(vy) = -y;
  x = sin(time);
  1000*x = 1000*sin(time);
end DrivenRedundant;
