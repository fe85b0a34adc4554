model M
  record R
    Real a;
    Real b;
  end R;
  R r;
  Real x = r.c;
equation
  r.a = 1;
  r.bb = 2;
end M;
