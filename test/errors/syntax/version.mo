//! base 9.0.0
package M
  model M
    Real x = 1;
  end M;
end M;
