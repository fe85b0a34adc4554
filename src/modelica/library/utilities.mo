// Modelica.Utilities: what a function can do to its surroundings, here only to stop a run.

function 'Modelica.Utilities.Streams.error'
  input String string;
algorithm
  assert(false, string);
end 'Modelica.Utilities.Streams.error';

// Nothing is printed: a function is evaluated whenever its arguments are needed, not once for each step.
function 'Modelica.Utilities.Streams.print'
  input String string = "";
  input String fileName = "";
algorithm
end 'Modelica.Utilities.Streams.print';

function 'external.ModelicaInternal_print'
  input String string;
  input String fileName;
algorithm
end 'external.ModelicaInternal_print';
