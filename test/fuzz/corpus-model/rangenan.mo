model M Real x; equation x=sum(1:(1e308*10):9)+sum(0:1e-320:1)+sum(-1e308:1:1e308); end M;
