// Modelica.Math.Matrices: linear algebra of small matrices.

// x of A*x = b, by Gauss with pivots; rows are exchanged by conditions, because entries may be known only in the run.
function 'Modelica.Math.Matrices.solve'
  input Real A[:, size(A, 1)];
  input Real b[size(A, 1)];
  output Real x[size(A, 1)];
protected
  Integer n = size(A, 1);
  Real M[n, n + 1];
  Real row[n + 1];
  Boolean larger;
algorithm
  M[:, 1:n] := A;
  M[:, n + 1] := b;
  for k in 1:n loop
    for i in k + 1:n loop
      larger := abs(M[i, k]) > abs(M[k, k]);
      row := M[k, :];
      M[k, :] := if larger then M[i, :] else row;
      M[i, :] := if larger then row else M[i, :];
    end for;
    assert(M[k, k] <> 0, "a system of linear equations has a singular matrix");
    for i in k + 1:n loop
      M[i, :] := M[i, :] - M[i, k]/M[k, k]*M[k, :];
    end for;
  end for;
  for k in n:-1:1 loop
    x[k] := (M[k, n + 1] - sum(M[k, i]*x[i] for i in k + 1:n))/M[k, k];
  end for;
end 'Modelica.Math.Matrices.solve';
