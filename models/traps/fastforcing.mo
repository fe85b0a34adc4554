model FastForcing "An algebraic variable that oscillates faster than the state moves"
  Real x(start = 0, fixed = true);
  Real y, z;
equation
  der(x) = y;
  y + z = sin(50*time);
  y - z = sin(50*time)/2;
end FastForcing;
