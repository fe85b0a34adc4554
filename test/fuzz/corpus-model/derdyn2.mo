model M Real x; Boolean b; equation der(x)=-x; b = der(der(x))>0; assert(der(der(der(x)))>0,"a"); end M;
