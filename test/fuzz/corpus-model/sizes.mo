model M Real x[integer(1e300)]; Real y[2147483648]; Real z[-1]; end M;
