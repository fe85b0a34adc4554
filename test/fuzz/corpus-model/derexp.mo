model M Real x; equation x=time; der(x)=der(der(der(der(der(der(der(der(der(der(der(der(der(der(x*sin(x)*exp(x))))))))))))))); end M;
