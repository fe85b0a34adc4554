model M function f input Integer n; output Integer y; algorithm y:=if n<2 then n else f(n-1)+f(n-2); end f; Real x; equation x=f(60); end M;
