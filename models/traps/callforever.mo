model CallForever "two recursive calls in each call, no two of them equal: 1e18 of them, before the run"
  function leaves
    input Integer depth;
    input Real path;
    output Real y;
  algorithm
    if depth < 1 then
      y := path;
    else
      y := leaves(depth - 1, 2*path) + leaves(depth - 1, 2*path + 1);
    end if;
  end leaves;
  Real x;
equation
  x = leaves(60, 0);
end CallForever;
