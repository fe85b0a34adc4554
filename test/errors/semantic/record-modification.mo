model M
  record R
    Real a;
  end R;
  R r(c = 1, a(start = 2));
equation
  r.a = 1;
end M;
