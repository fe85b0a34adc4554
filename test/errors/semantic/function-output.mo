model M
  function f
    input Real x;
    output Real y;
  algorithm
    if x > 1 then
      return;
    end if;
  end f;
  Real a = f(time);
end M;
