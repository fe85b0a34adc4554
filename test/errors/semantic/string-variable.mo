model M
  String s;
algorithm
  s := "a";
end M;
