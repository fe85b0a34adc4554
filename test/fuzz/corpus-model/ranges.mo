model M Real x; equation x=sum(1:0.000001:9); end M;
