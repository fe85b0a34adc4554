model M
  import Modelica.Constants.pi;
  extends Base(p = 2);
  Real x;
equation
  x = 1;
end M;
