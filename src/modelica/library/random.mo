// Modelica.Math.Random: the generators xorshift64*, xorshift128+ and xorshift1024* [Vig16, Vig17]. A state consists of
// Integers of 32 bits with sign, two for each word of 64 bits, the lower one first. Integers are doubles, so a word is
// written as its 64 bits, the lowest first: exclusive or of bits is abs(a - b), and a shift moves elements.

function 'random.bits'
  input Integer low;
  input Integer high;
  output Real b[64];
protected
  Real rest;
  Real half;
algorithm
  for k in 0:1 loop
    rest := if k == 0 then low else high;
    rest := if rest < 0 then rest + 4294967296.0 else rest;
    for i in 1:32 loop
      half := floor(rest/2);
      b[32*k + i] := rest - 2*half;
      rest := half;
    end for;
  end for;
end 'random.bits';

// a exclusive-or a moved by k bits to higher places; to lower ones if k < 0.
function 'random.xorShift'
  input Real a[64];
  input Integer k;
  output Real b[64];
algorithm
  b := {abs(a[i] - (if i - k < 1 or i - k > 64 then 0 else a[max(1, min(64, i - k))])) for i in 1:64};
end 'random.xorShift';

// The number of the bits first .. last.
function 'random.number'
  input Real b[64];
  input Integer first;
  input Integer last;
  output Real n;
algorithm
  n := 0;
  for i in last:-1:first loop
    n := 2*n + b[i];
  end for;
end 'random.number';

function 'random.withSign'
  input Real word;
  output Integer n;
algorithm
  n := integer(if word >= 2147483648.0 then word - 4294967296.0 else word);
end 'random.withSign';

// A word of 64 bits with sign, made a number in (0, 1].
function 'random.uniform'
  input Integer low;
  input Integer high;
  output Real u;
algorithm
  u := (high*4294967296.0 + (if low < 0 then low + 4294967296.0 else low))*2.0^(-64) + 0.5;
end 'random.uniform';

// The bits times a factor, modulo 2^64; the factor is given by its four digits of 16 bits.
function 'random.product'
  input Real b[64];
  input Real factor[4];
  output Integer low;
  output Integer high;
protected
  Real digit[4] = {'random.number'(b, 16*i - 15, 16*i) for i in 1:4};
  Real d[4];
  Real carry = 0;
algorithm
  for k in 1:4 loop
    carry := carry + sum(digit[i]*factor[k + 1 - i] for i in 1:k);
    d[k] := carry - 65536*floor(carry/65536);
    carry := floor(carry/65536);
  end for;
  low := 'random.withSign'(d[1] + 65536*d[2]);
  high := 'random.withSign'(d[3] + 65536*d[4]);
end 'random.product';

function 'external.ModelicaRandom_xorshift64star'
  input Integer stateIn[2];
  output Integer stateOut[2];
  output Real result;
protected
  Real x[64];
algorithm
  x := 'random.bits'(stateIn[1], stateIn[2]);
  x := 'random.xorShift'(x, -12);
  x := 'random.xorShift'(x, 25);
  x := 'random.xorShift'(x, -27);
  (stateOut[1], stateOut[2]) := 'random.product'(x, {56605, 20332, 62609, 9541});
  result := 'random.uniform'(stateOut[1], stateOut[2]);
end 'external.ModelicaRandom_xorshift64star';

function 'external.ModelicaRandom_xorshift128plus'
  input Integer stateIn[4];
  output Integer stateOut[4];
  output Real result;
protected
  Real s0[64] = 'random.bits'(stateIn[3], stateIn[4]);
  Real s1[64] = 'random.xorShift'('random.bits'(stateIn[1], stateIn[2]), 23);
  Real low;
  Real high;
algorithm
  s1 := 'random.xorShift'(s1, -17);
  s1 := {abs(s1[i] - abs(s0[i] - (if i + 26 > 64 then 0 else s0[min(i + 26, 64)]))) for i in 1:64};
  low := 'random.number'(s1, 1, 32) + 'random.number'(s0, 1, 32);
  high := 'random.number'(s1, 33, 64) + 'random.number'(s0, 33, 64) + floor(low/4294967296.0);
  stateOut := {stateIn[3], stateIn[4], 'random.withSign'(low - 4294967296.0*floor(low/4294967296.0)),
    'random.withSign'(high - 4294967296.0*floor(high/4294967296.0))};
  result := 'random.uniform'(stateOut[3], stateOut[4]);
end 'external.ModelicaRandom_xorshift128plus';

// 16 words and the number of the last one, from 0.
function 'external.ModelicaRandom_xorshift1024star'
  input Integer stateIn[33];
  output Integer stateOut[33];
  output Real result;
protected
  Integer p = mod(stateIn[33], 16);
  Integer q = mod(p + 1, 16);
  Real s0[64] = 'random.xorShift'('random.bits'(stateIn[2*p + 1], stateIn[2*p + 2]), -30);
  Real s1[64] = 'random.xorShift'('random.bits'(stateIn[2*q + 1], stateIn[2*q + 2]), 31);
  Integer word[2];
algorithm
  s1 := 'random.xorShift'(s1, -11);
  s1 := {abs(s1[i] - s0[i]) for i in 1:64};
  for i in 0:15 loop
    stateOut[2*i + 1] := if i == q then 'random.withSign'('random.number'(s1, 1, 32)) else stateIn[2*i + 1];
    stateOut[2*i + 2] := if i == q then 'random.withSign'('random.number'(s1, 33, 64)) else stateIn[2*i + 2];
  end for;
  stateOut[33] := q;
  (word[1], word[2]) := 'random.product'(s1, {64949, 21655, 35284, 4198});
  result := 'random.uniform'(word[1], word[2]);
end 'external.ModelicaRandom_xorshift1024star';

function 'Modelica.Math.Random.Generators.Xorshift64star.random'
  input Integer stateIn[2];
  output Real result;
  output Integer stateOut[2];
algorithm
  (stateOut, result) := 'external.ModelicaRandom_xorshift64star'(stateIn);
end 'Modelica.Math.Random.Generators.Xorshift64star.random';

// Ten steps make a good state of any seeds; two zeros would stay zero.
function 'Modelica.Math.Random.Generators.Xorshift64star.initialState'
  input Integer localSeed;
  input Integer globalSeed;
  output Integer state[2];
protected
  Real unused;
algorithm
  state := {if localSeed == 0 and globalSeed == 0 then 126247697 else localSeed, globalSeed};
  for i in 1:10 loop
    (unused, state) := 'Modelica.Math.Random.Generators.Xorshift64star.random'(state);
  end for;
end 'Modelica.Math.Random.Generators.Xorshift64star.initialState';

// Words of xorshift64*, as many as are wanted; an odd number ends with half of a word.
function 'Modelica.Math.Random.Utilities.initialStateWithXorshift64star'
  input Integer localSeed;
  input Integer globalSeed;
  input Integer nState;
  output Integer state[nState];
protected
  Integer word[2] = 'Modelica.Math.Random.Generators.Xorshift64star.initialState'(localSeed, globalSeed);
  Real unused;
algorithm
  for i in 1:nState loop
    if mod(i, 2) == 1 and i > 1 then
      (unused, word) := 'Modelica.Math.Random.Generators.Xorshift64star.random'(word);
    end if;
    state[i] := word[2 - mod(i, 2)];
  end for;
end 'Modelica.Math.Random.Utilities.initialStateWithXorshift64star';

function 'Modelica.Math.Random.Generators.Xorshift128plus.random'
  input Integer stateIn[4];
  output Real result;
  output Integer stateOut[4];
algorithm
  (stateOut, result) := 'external.ModelicaRandom_xorshift128plus'(stateIn);
end 'Modelica.Math.Random.Generators.Xorshift128plus.random';

function 'Modelica.Math.Random.Generators.Xorshift128plus.initialState'
  input Integer localSeed;
  input Integer globalSeed;
  output Integer state[4];
algorithm
  state := 'Modelica.Math.Random.Utilities.initialStateWithXorshift64star'(localSeed, globalSeed, 4);
end 'Modelica.Math.Random.Generators.Xorshift128plus.initialState';

function 'Modelica.Math.Random.Generators.Xorshift1024star.random'
  input Integer stateIn[33];
  output Real result;
  output Integer stateOut[33];
algorithm
  (stateOut, result) := 'external.ModelicaRandom_xorshift1024star'(stateIn);
end 'Modelica.Math.Random.Generators.Xorshift1024star.random';

function 'Modelica.Math.Random.Generators.Xorshift1024star.initialState'
  input Integer localSeed;
  input Integer globalSeed;
  output Integer state[33];
algorithm
  state := 'Modelica.Math.Random.Utilities.initialStateWithXorshift64star'(localSeed, globalSeed, 33);
end 'Modelica.Math.Random.Generators.Xorshift1024star.initialState';

// The hidden state are discrete variables of the model (flatten_random.c).
function 'Modelica.Math.Random.Utilities.initializeImpureRandom.setInternalState'
  input Integer rngState[33];
  input Integer id;
external "C" ModelicaRandom_setInternalState_xorshift1024star(rngState, size(rngState, 1), id);
end 'Modelica.Math.Random.Utilities.initializeImpureRandom.setInternalState';

function 'Modelica.Math.Random.Utilities.impureRandom'
  input Integer id;
  output Real y;
external "C" y = ModelicaRandom_impureRandom_xorshift1024star(id);
end 'Modelica.Math.Random.Utilities.impureRandom';
