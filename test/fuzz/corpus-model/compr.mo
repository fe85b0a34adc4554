model M Real x; equation x=sum(i*j*k for i in 1:100000, j in 1:100000, k in 1:100000); end M;
