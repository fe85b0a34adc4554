model M Real x[280]; equation for i in 1:280 loop der(x[i])=sum(x)*x[i]^2*product(x); end for; end M;
