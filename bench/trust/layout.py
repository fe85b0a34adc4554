"""The same text in another dress: declarations and equations in another order, attributes, comments, line ends, quoted names, prefixes. What it
means does not change."""
import re

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[A-Za-z_]\w*|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.[-+*/^]|:=|<=|>=|==|<>|\s+|.', re.S)
NAME = re.compile(r"[xyzuv]\d+(_\w+)?$")
PLAIN = re.compile(r"^(?P<prefix>(?:input |output |parameter |constant |final )*)(?P<type>Real|Integer|Boolean|Color)(?P<name> \w+)(?P<size>\[[^\]]*\])?(?P<value> = .*)?;$", re.S)
ATTRIBUTES = {"Real": ['unit = "V"', "min = -1e9", "max = 1e9", 'displayUnit = "kV"', "nominal = 2", 'quantity = "Any"', "start = 0.5", "min = -1e9, max = 1e9", 'unit = "1"'],
              "Integer": ["min = -1000000000", "max = 1000000000", "start = 4", 'quantity = "Count"'], "Boolean": ["start = true", 'quantity = "Flag"'], "Color": ["start = Color.green"]}
REMARKS = ["/* a remark; equation */", "// end M; \"\n", "/* over\n two lines * / */", "\t", "  ", "\n", "\r\n", "/**/", "//\n", "\n\n"]


def decorated(line, R):
    """A declaration with attributes, a prefix, a description, an annotation, by an alias of its type."""
    found = PLAIN.match(line)
    if not found: return line
    prefix, t, name, size, bound = (found[k] or "" for k in ("prefix", "type", "name", "size", "value"))
    attribute = ""
    if R.random() < .3:
        word = R.choice(ATTRIBUTES[t])
        if prefix.strip() and word.startswith("start"): word = 'quantity = "Q"'
        attribute = "(%s%s)" % (R.choice(["", "final "]) if not size else "each ", word)
    elif R.random() < .15 and t == "Real" and size in ("", "[3]"): t, size = ("Volt", "") if not size else ("Three", "")
    if not prefix and R.random() < .15: prefix = "output "
    elif not prefix and bound and R.random() < .1 and t != "Color": prefix = "input "
    tail = R.choice([' "a description"', ' "in" + " two parts"', ' annotation(Dialog(group = "G", enable = a < b[2]), choices(choice = 1 "one"))', ' "both" annotation(Evaluate = true)']) if R.random() < .15 else ""
    return "%s%s%s%s%s%s%s;" % (prefix, t, name, size, attribute, bound, tail)


def scattered(text, R, rate):
    """Comments and line ends between the tokens, and names in quotes."""
    names, out = {}, []
    quoted = R.random() < .3
    for token in TOKEN.findall(text):
        if quoted and NAME.match(token): token = names.setdefault(token, "'%s'" % (R.choice(["%s.q", "%s of it", "1 %s: end", "a\\\\%s", "%s+b", "(%s)", "%s // %s"]).replace("%s", token)) if R.random() < .5 else token)
        out.append(token)
        if token.isspace() or R.random() >= rate: continue
        remark = R.choice(REMARKS)
        out.append(" " + remark + " " if remark.strip() else remark)
    return "".join(out), {new: old for old, new in names.items() if new != old}
