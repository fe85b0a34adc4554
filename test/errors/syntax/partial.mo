partial model A
  Real x;
end A;
