model M parameter String s="a"; Real x; equation x=abs(s)+sum({s,s})+min(s)+der(s)+pre(s)+s*2-s^s;
  when time then
    k = 1; when s then x=1; end when; for i in {s,s} loop x=1; end for; x=s[1]; {s}={s}; s="b"; s=time; size(s,1)=3; x=noEvent(s)+smooth(s,1)+homotopy(s,s)+floor(s)+sample(s,s)+edge(s)+change(s)+max(s,s); end M;
