model M record R parameter String s="a"; Real x; end R; R a,b; Boolean q=time>1; equation if time>1 then a=b; else b=a; end if; when q then a=b; reinit(a,b); end when; initial equation a=b; end M;
