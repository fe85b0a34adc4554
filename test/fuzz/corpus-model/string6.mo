model M parameter String s[3]={"a","b","c"}; Real x; Integer k; equation x=if s[k]=="a" then 1 else 2; k=if time>1 then 2 else 1; assert(x>0, s[k]); end M;
