// No node is grounded: the potentials have no level, and what one node balances the other does,
// too.
model Floating "Circuit without a ground"
  parameter Real G = 2, w = 1;
  Real e1, e2; // named: e1 e2
equation
  G*(e1 - e2) = sin(w*time) "node 1"; // culprit
  G*(e2 - e1) = -sin(w*time) "node 2"; // culprit
end Floating;
