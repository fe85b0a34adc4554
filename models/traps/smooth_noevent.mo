model SmoothNoEvent "smooth makes no events: nobody sees the kinks of |sin|"
  Real x(start = 0, fixed = true), s;
equation
  s = smooth(0, if sin(6.283185307179586*time) > 0 then sin(6.283185307179586*time) else -sin(6.283185307179586*time));
  der(x) = s;
  annotation(experiment(StopTime = 1));
end SmoothNoEvent;
