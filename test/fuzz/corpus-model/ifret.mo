model M function f input Real x; output Real y; algorithm y:=0; for i in 1:200 loop if x>i then return; end if; if y>i then break; end if; y:=y+x; end for; end f; Real x; equation der(x)=f(x); end M;
