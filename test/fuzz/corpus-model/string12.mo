model M record R String s="a"; Real x; end R; parameter R p[2]={R("q",1),R("r",2)}; Real x; Integer k=if time>1 then 1 else 2; equation x=p[k].x; assert(x<1,p[k].s); end M;
