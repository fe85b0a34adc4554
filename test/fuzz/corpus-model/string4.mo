model M record R parameter String s="a"; Real x; end R; R a,b; algorithm a:=b; b.x:=time; a.s:="z"; end M;
