model M
  record R
    Real a;
    Real b;
  end R;
  R r = R(1);
  R s = R(a = 1, c = 2);
  R t = R(1, 2, 3);
end M;
