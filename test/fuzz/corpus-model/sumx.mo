model M Real x[60]; equation for i in 1:60 loop der(x[i])=sum(x)*x[i]^2*product(x); end for; end M;
