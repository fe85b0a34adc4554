// x + y = sin(t) twice, the second time in other units; x - y = 2 t keeps its speed. The sum of
// accelerations, -sin(t), is carried by -2 (l1 + 1000 l2): of least norm l1 = sin(t)/2/(1 + 1e6).
model DrivenRedundant "A driven position said twice, in metres and millimetres"
  Real x(start = 0, fixed = true), y(start = 0), vx(start = 1.5, fixed = true), vy, l1, l2;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -l1 - 1000*l2;
  der(vy) = -l1 - 1000*l2;
  x + y = sin(time);
  1000*(x + y) = 1000*sin(time);
end DrivenRedundant;
