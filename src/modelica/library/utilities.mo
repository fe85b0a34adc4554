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

// A model does not change files: none is removed, none is written, which a warning of the run says.
function 'Modelica.Utilities.Files.removeFile'
  input String fileName;
algorithm
end 'Modelica.Utilities.Files.removeFile';

function 'Modelica.Utilities.Files.fullPathName'
  input String name;
  output String fullName;
algorithm
  fullName := name;
end 'Modelica.Utilities.Files.fullPathName';

function 'Modelica.Utilities.Streams.writeRealMatrix'
  input String fileName;
  input String matrixName;
  input Real matrix[:, :];
  input Boolean append = false;
  input String format = "4";
  output Boolean success;
algorithm
  assert(false, "no file is written: '" + fileName + "' of writeRealMatrix", AssertionLevel.warning);
  success := false;
end 'Modelica.Utilities.Streams.writeRealMatrix';

// Files that are read are read at once: none is open.
function 'external.ModelicaStreams_closeFile'
  input String fileName;
algorithm
end 'external.ModelicaStreams_closeFile';
