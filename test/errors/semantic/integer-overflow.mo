model M
  constant Integer a = integer(1e300);
  constant Integer b = 3000000000*4000000000;
  parameter Integer n = 4000000000;
  Integer c = n*n;
  Integer d = 99999999999999999999;
  Integer fine = 4000000000*2;
equation
  missing = 0;
end M;
