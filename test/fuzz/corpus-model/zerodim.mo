model M Real x[0,1000000000]; Real y[1000000,0,100000]; Real z; equation z=sum(y)+time; end M;
