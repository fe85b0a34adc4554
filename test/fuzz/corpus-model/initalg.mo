model M Real x,z; initial equation der(z)=0; equation der(x)=-x; z=x^2; end M;
