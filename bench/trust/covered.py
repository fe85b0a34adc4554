"""Elements of the language, each with what shows it in a text: `texts.py --covered` fails if no text that came out right has one of
them, or if README.md lists others."""
import os, re

ELEMENTS = [(name, re.compile(shown)) for name, shown in [
    ("arithmetic: + - * / ^", r"[\w)] - .*/.*\^|\^.*[\w)] - "), ("signs, brackets", r"\(-"), ("elementwise .+ .- .* ./ .^", r" \.[-+*/^] "),
    ("relations of numbers", r"<=|>="), ("relations of Booleans, enumerations, texts", r"Color\.\w+ (<|>=|==)|== \""), ("and, or, not", r"\b(and|or)\b.*\bnot\b|\bnot\b.*\b(and|or)\b"),
    ("if expressions, elseif", r"= .*if .* then .* elseif .* then .* else "),
    ("abs, sign, sqrt, min, max", r"\b(sign|sqrt|max)\("), ("div, mod, rem", r"\b(div|mod|rem)\("), ("floor, ceil, integer", r"\b(floor|ceil|integer)\("),
    ("sin, cos, tan, asin, acos, atan, atan2", r"\b(asin|acos|tan|atan2)\("), ("exp, log, log10, sinh, cosh, tanh", r"\b(exp|log|log10|sinh|cosh)\("),
    ("noEvent, smooth", r"noEvent\(|smooth\("), ("homotopy, semiLinear", r"homotopy\(|semiLinear\("), ("String", r"String\("),
    ("String: minimumLength, leftJustified", r"leftJustified"), ("String: significantDigits, format", r"significantDigits|format"),
    ("Integer(e), E(i)", r"Integer\(|Color\(\d"), ("texts joined", r"String.* \+ .*\""), ("time", r"\btime\b"), ("initial()", r"initial\(\)"),
    ("{a, b}, [a, b; c, d]", r"\[[^\]]*;"), ("ranges, of enumerations and Reals", r"Color\.green:Color\.blue|0\.25:0\.5:1\.25"),
    ("subscripts, end, slices, vectors of subscripts", r"\[.*(:|end|\{).*\]"), ("subscripts of enumerations and Booleans", r"\[(Color|Boolean)\] = "),
    ("size, ndims", r"size\(|ndims\("), ("zeros, ones, fill, identity, diagonal, linspace", r"(identity|diagonal|linspace)\("),
    ("transpose, symmetric, outerProduct, cross, skew", r"(symmetric|outerProduct|cross|skew)\("), ("cat, vector, matrix, scalar", r"(cat|vector|scalar)\("),
    ("sum, product, min, max of arrays", r"(sum|product)\("), ("matrix products, powers", r"\}\)?\*.*\{\{"), ("comprehensions", r"\bfor \w+ in .*\}"),
    ("comprehensions of two counters", r"for \w+ in [^,;]*, \w+ in "), ("values of a type: for c in Color, b in Boolean", r"in (Color|Boolean)\b"),
    ("parameters, constants, final", r"final parameter|constant"), ("enumerations", r"Color\."), ("records, constructors", r"Pack\("),
    ("records in records", r"Outer "), ("arrays of records, each", r"Pair \w+\[\d\]\(each"), ("String variables", r"String s_"),
    ("equations for unknowns on both sides", r"2\*\w+ - "), ("equations of slices", r"\w+\[.*(:|\{).*\] = "), ("if equations, elseif", r"^  if .* then$"),
    ("for equations, nested if", r"^  for .* loop$"), ("several results", r"^  \(\w+, \w+\) = "), ("der of a state", r"der\(s\) = 1"),
    ("der of expressions", r" = der\("), ("when, sample", r"when (\{)?sample"), ("elsewhen", r"elsewhen"), ("when with initial()", r"initial\(\)\} then"),
    ("pre", r"pre\("), ("edge", r"edge\("), ("change", r"change\("), ("reinit", r"reinit\("), ("when in algorithms", r"(?s)algorithm\n +when .* := "),
    ("algorithms", r"^algorithm"), ("for, of Integers and values", r"for i\d in \{"), ("while", r"while .* loop"), ("break", r"break;"), ("return", r"return;"),
    ("assignments to elements", r"\w+\[\d.*\] := "), ("functions", r"^function"), ("default and named arguments", r"f\d+\(\w+ = "), ("arrays of any size", r"input \w+ \w+\[:"),
    ("functions as arguments", r"input Curve f"), ("protected variables", r"^protected"),
    ("states that a matrix connects", r"A_\w+\*der\(|sum\(A_"), ("states by slices and in loops", r"der\(\w+\[2:end\]\)|der\(\w+\[i\]\)"), ("derivatives in expressions and calls", r"\b(f\d+|sin|cos|max|min|abs|atan)\([^;\n]*der\(s\)"),
    ("if equations for slopes", r"^    der\(\w+\) = "), ("when in for equations", r"(?s)for w in [^;]* loop\n +when"), ("pre of arrays", r"(?s)\w+\[\d\]\(start = \{.*pre\(\w+\)\)?[\[ )]"),
    ("sample of parameters", r"sample\(p_"), ("for equations over types", r"^  for c in "), ("initial equations", r"^initial equation"), ("initial equations for pre", r"(?s)initial equation\n +pre\("),
    ("initial algorithms", r"^initial algorithm"), ("parameters with fixed = false", r"parameter Real \w+\(fixed = false\)"), ("functions of records", r"input Duo p"), ("members of results", r"R_\w+ \w+\(a = r\d+\(.*\)\.a\)"),
    ("functions that make texts", r"input String b"), ("sums of hundreds of terms", r"^.{2000}"), ("deep nesting", r"(\([^(\n]*){30}"), ("sizes by parameters", r"Real \w+\[n_"), ("sizes that are deduced", r"Real \w+\[:\] = "),
    ("sizes on types and names", r"Real\[2\] \w+\[\d"), ("arrays of three dimensions", r"Real \w+\[\d, 2, 2\]"), ("arrays without elements", r"parameter Integer n_\w+ = 0;"), ("assert", r"assert\(abs"), ("assert of the level warning", r"AssertionLevel\.warning"),
    ("terminate", r"terminate\("), ("integers by elimination, rounded", r"_k = .*(integer|floor|ceil)"), ("protected, public", r"^  public$"), ("input, output", r"(?s)input Real \w+ = .*output Real \w+;"),
    ("attributes", r"unit = \"V\"|quantity = "), ("types with attributes, of arrays", r"^  (Three|Volt) "), ("names in quotes", r"^  .*'.* = "), ("comments between tokens", r"/\* a remark"), ("descriptions, annotations", r"annotation\((Dialog|Evaluate)"),
    ("packages", r"^package All"),
]]


def found(text): return {name for name, shown in ELEMENTS if re.search(shown, text) or any(shown.search(l) for l in text.splitlines())}


def faults(seen):
    """What is wrong: elements that no text has, rows of README.md that differ."""
    page = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "README.md")).read()
    rows = re.findall(r"^\| (.*) \|$", page.split("## What the texts cover")[-1], re.M)
    rows = [r.replace("\\|", "|") for r in rows if r not in ("element", "---")]
    names = [name for name, _ in ELEMENTS]
    return ["no text has: " + n for n in names if n not in seen] + ["README.md has no row: " + n for n in names if n not in rows] + ["README.md has another row: " + r for r in rows if r not in names]
