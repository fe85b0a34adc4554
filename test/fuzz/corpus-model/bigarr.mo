model M Real x[1000000000]; equation for i in 1:1000000000 loop x[i]=i; end for; end M;
