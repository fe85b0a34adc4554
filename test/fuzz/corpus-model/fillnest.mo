model M Real x; equation x=sum(fill(fill(fill(fill(1,10),10000),10),10000)); end M;
