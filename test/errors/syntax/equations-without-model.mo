Real x;
x = 1;
y = 2;
