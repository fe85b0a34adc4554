model M type A=B; type B=A; A x; equation x=1; end M;
