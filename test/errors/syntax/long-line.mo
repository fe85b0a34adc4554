model M
  Real x, y;
equation
  x = variable_0 + variable_1 + variable_2 + variable_3 + variable_4 + variable_5 + variable_6 + variable_7 + variable_8 + variable_9 + variable_10 + variable_11 + variable_12 + variable_13 + variable_14 + variable_15 + variable_16 + variable_17 + variable_18 + variable_19 + variable_20 + variable_21 + variable_22 + variable_23 + variable_24 + variable_25 + variable_26 + variable_27 + variable_28 + variable_29 + variable_30 + variable_31 + variable_32 + variable_33 + variable_34 + variable_35 + variable_36 + variable_37 + variable_38 + variable_39 + ;
end M;
