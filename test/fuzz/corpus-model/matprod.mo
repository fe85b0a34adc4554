model M parameter Integer n=3000; parameter Real a[n,n]=fill(1.5,n,n); Real x; equation x=sum(a*a); end M;
