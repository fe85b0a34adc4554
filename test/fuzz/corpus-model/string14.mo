model M parameter String s(start="a", fixed=false); String v; discrete String d; input String u; constant String c; Real x(start=s, unit=s, nominal=s)=1; equation der(x)=s; end M;
