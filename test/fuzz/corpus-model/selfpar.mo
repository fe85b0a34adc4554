model M parameter Real a=b; parameter Real b=a; Real x[integer(a)]; equation x=zeros(3); end M;
