model M function f input Real x; output Real y; algorithm y:=x; for i in 1:1000 loop y:=y*y+sin(y)*y+time; end for; end f; Real x; equation der(x)=f(x); end M;
