model M parameter Real a[:,:]=zeros(100000,100000); Real x; equation x=sum(a); end M;
