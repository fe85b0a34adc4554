model M Real x; equation for i in 1:1e9 loop x=i; end for; end M;
