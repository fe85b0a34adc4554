type Mode = enumeration(low, high);
function name
  input Real x;
  output String s;
protected
  String t;
algorithm
  if x > 2 then
    s := "big";
    t := s + "!";
  elseif x > 1 then
    s := "middle";
  else
    s := "small";
  end if;
  if x > 3 then
    s := t;
  end if;
end name;
function read
  input String f;
  output Real m[1, 1];
external "C" ModelicaIO_readRealMatrix(f, "A", m, size(m, 1), size(m, 2), true) annotation(Include = "#include \"a.h\"", Library = {"a", "b"});
end read;
model M
  Real x(start = 0, fixed = true), y;
  Mode m;
  String s = if x > 1 then "high" else "low";
  String t, u[2] = {s, name(x)};
equation
  t = "t is " + s + u[2];
  der(x) = 1;
  m = if x > 1 then Mode.high else Mode.low;
  y = if s == u[1] then 10 else if u[2] < "n" then 20 else 30;
  assert(x < 2.5, t + String(m, minimumLength = 6) + "|" + String(x, format = ".3f"));
end M;
