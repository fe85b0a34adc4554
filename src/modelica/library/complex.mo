// Complex: numbers of two Reals.

record 'Complex'
  Real 're';
  Real 'im';
end 'Complex';

function 'Complex.\'constructor\'.fromReal'
  input Real re;
  input Real im = 0;
  output 'Complex' result;
algorithm
  result.re := re;
  result.im := im;
end 'Complex.\'constructor\'.fromReal';
