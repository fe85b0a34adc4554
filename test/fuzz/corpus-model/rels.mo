model M Real x; equation der(x)=sum(if x>i then 1 else 0 for i in 1:1000); end M;
