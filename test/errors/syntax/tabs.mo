model M
  Real x, y;
equation
	x	= y +	;
end M;
