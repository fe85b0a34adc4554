model M record R R r[2]; end R; R r; end M;
