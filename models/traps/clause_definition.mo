model clause_definition "clauses that read, through variables of equations, what they assign: all equations of an event hold at once"
  parameter Real c = 0.3;
  Real x(start = 1, fixed = true);
  Real z, y, p, a "of a discrete variable alone";
  Boolean high;
  discrete Real w(start = 0, fixed = true) "2 z with the new u";
  discrete Real u(start = 0, fixed = true);
  discrete Real v(start = 0, fixed = true) "in a loop with p";
  discrete Real s(start = 0, fixed = true) "in a clause of its own, ahead of what it reads";
  Boolean on(start = false, fixed = true);
  Integer k(start = 0, fixed = true);
  discrete Real q(start = 0, fixed = true), r(start = 0, fixed = true);
equation
  der(x) = -x;
  z = 10*u + x;
  p = x + c*v;
  y = 3*k + (if on then 10 else 0) + z;
  a = -u;
  high = y > 5;
  when x < 0.5 then
    s = z + a;
  end when;
  when x < 0.5 then
    w = 2*z;
    r = 4*a;
    u = x;
  end when;
  when sample(0.3, 0.3) then
    v = 0.9*p;
  end when;
  when sample(0.8, 10) then
    q = y + (if high then 100 else 0);
    on = true;
    k = pre(k) + 2;
  end when;
  annotation(experiment(StopTime = 1));
end clause_definition;
