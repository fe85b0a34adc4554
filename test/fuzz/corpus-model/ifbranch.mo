model M function f input Real x; output Real y; algorithm y:=0; for i in 1:200 loop if x>i then y:=y+x; else y:=y-x; end if; end for; end f; Real x; equation der(x)=f(x); end M;
