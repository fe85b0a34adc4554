model CallForever "two recursive calls in each call: 5e12 of them, before the run"
  function fib
    input Integer n;
    output Integer y;
  algorithm
    if n < 2 then
      y := n;
    else
      y := fib(n - 1) + fib(n - 2);
    end if;
  end fib;
  Real x;
equation
  x = fib(60);
end CallForever;
