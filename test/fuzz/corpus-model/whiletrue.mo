model M function f input Real x; output Real y; algorithm y:=x; while true loop y:=y+1; end while; end f; Real x; equation der(x)=f(x); end M;
