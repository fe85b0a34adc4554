model M Real x,z; equation der(x)=1; z=der(sin(x)*x); when der(der(x))>0 then reinit(x,1); end when; end M;
