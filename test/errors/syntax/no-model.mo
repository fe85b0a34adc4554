type T = Real;
