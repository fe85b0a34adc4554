// Two current sources in series have to agree, and the potential between them is open.
model SeriesSources "Current sources in series"
  parameter Real w = 1;
  Real i1, i2;
  Real e "potential between the sources", power;
equation
  i1 = 1 + sin(w*time); // culprit
  i2 = 2 + cos(w*time); // culprit
  i1 - i2 = 0 "node"; // culprit
  power = e*i1;
end SeriesSources;
