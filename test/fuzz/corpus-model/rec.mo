model M function f input Real x; output Real y; algorithm y:=f(x)+f(x+1); end f; Real x; equation x=f(time); end M;
