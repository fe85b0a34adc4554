model M
  String s = "a";
end M;
