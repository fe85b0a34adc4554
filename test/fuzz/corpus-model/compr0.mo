model M Real x; equation x=sum(1 for i in 1:10000000); end M;
