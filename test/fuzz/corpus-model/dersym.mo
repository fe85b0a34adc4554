model M Real x,y; equation der(x)=-x; y=der(der(der(der(der(der(der(der(der(der(der(der(der(der(der(der(der(der(der(der(x^x*sin(x)/exp(x))))))))))))))))))))); end M;
