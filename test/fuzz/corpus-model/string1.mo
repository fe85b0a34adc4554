model M function f input Real x; output Real y; protected String s="q"; algorithm if x>0 then s:="a"; else s:="b"; end if; y:=if s=="a" then 1 else 2; end f; Real x; equation der(x)=f(x); end M;
