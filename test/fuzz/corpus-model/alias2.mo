model M Real x,y,z; equation x=-y; y=z; z=x; end M;
