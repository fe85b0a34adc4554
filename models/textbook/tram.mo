model Tram "A tram between two stops: accelerate, cruise, brake"
  function profile "acceleration over time"
    input Real t;
    output Real a;
  algorithm
    if t < 12 then
      a := 1.2;
    elseif t < 40 then
      a := 0;
    elseif t < 52 then
      a := -1.2;
    else
      a := 0;
    end if;
  end profile;
  Real v(start = 0, fixed = true) "m/s", s(start = 0, fixed = true) "m", energy(start = 0, fixed = true) "kWh";
  Real F "kN";
equation
  der(v) = if time < 12 then 1.2 elseif time < 40 then 0 elseif time < 52 then -1.2 else 0;
  der(s) = v;
  F = 40*profile(time) + 0.05*v;
  der(energy) = max(0, F*v)/3600;
  annotation(experiment(StopTime = 60));
end Tram;
