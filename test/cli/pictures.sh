#!/bin/sh
# Pictures: every text of an .svg lies inside of it, whatever the command, the model and its names.
#   pictures.sh <path of daedal>
. "$(dirname "$0")/common.inc"
command -v gnuplot >/dev/null || {
    echo "skipped: no gnuplot"
    exit 0
}

# Where the letters of a text lie: a letter is about 0.55 of its size wide, 0.75 high, and 0.25 deep.
cat >inside.py <<'END_OF_PYTHON'
import math, re, sys
import xml.etree.ElementTree as tree

def box(node, size, x, y, turned, anchor):
    text = ''.join(node.itertext()).strip()
    width = 0.55*size*len(text)
    left = {'start': 0, 'middle': -width/2, 'end': -width}[anchor]
    corners = [(left, -0.75*size), (left + width, 0.25*size)]
    c, s = math.cos(math.radians(turned)), math.sin(math.radians(turned))
    return text, [(x + c*a - s*b, y + s*a + c*b) for a, _ in corners for _, b in corners]

def walk(node, state, found):
    state = dict(state)
    moved = re.search(r'translate\(([-\d.]+),\s*([-\d.]+)\)', node.get('transform', ''))
    if moved:
        state['x'] += float(moved[1])
        state['y'] += float(moved[2])
    turned = re.search(r'rotate\(([-\d.]+)', node.get('transform', ''))
    if turned:
        state['turned'] += float(turned[1])
    state['size'] = float(node.get('font-size', state['size']))
    state['anchor'] = node.get('text-anchor', state['anchor'])
    if node.tag.endswith('}text'):
        found.append(box(node, state['size'], state['x'], state['y'], state['turned'], state['anchor']))
    for child in node:
        walk(child, state, found)

for path in sys.argv[1:]:
    root = tree.parse(path).getroot()
    _, _, width, height = map(float, root.get('viewBox').split())
    found = []
    walk(root, {'x': 0.0, 'y': 0.0, 'turned': 0.0, 'size': 13.0, 'anchor': 'start'}, found)
    assert any(text for text, _ in found), path + ' has no texts'
    for text, corners in found:
        out = [(x, y) for x, y in corners if not (0 <= x <= width and 0 <= y <= height)]
        if text and out:
            sys.exit('%s: "%s" at (%.0f, %.0f) is outside of %g by %g' % (path, text, *out[0], width, height))
END_OF_PYTHON
inside() { python3 inside.py "$@" >out 2>err || fail "a text outside of $*"; }

cat >long.mo <<'END'
model ANameOfAModelThatIsSoLongThatItsTitleWouldNotFitAboveThePanelsOfAPictureOfTheUsualWidthSoThatItMustBeCutSomewhereButItsBeginningAndEndAreKeptForTheReader
  Real aVeryLongNameOfAVariableThatStandsBesideItsPanel(unit = "kg.m2/(s2.A)", start = 1, fixed = true);
  Real x[12](each start = 1e-7, each fixed = true), y = 1e12*aVeryLongNameOfAVariableThatStandsBesideItsPanel;
  parameter Real aParameterWithAVeryLongNameThatIsAtTheAxisOfTheBars = 1;
equation
  der(aVeryLongNameOfAVariableThatStandsBesideItsPanel) =
    -aParameterWithAVeryLongNameThatIsAtTheAxisOfTheBars*aVeryLongNameOfAVariableThatStandsBesideItsPanel;
  for i in 1:12 loop
    der(x[i]) = -i*x[i];
  end for;
end ANameOfAModelThatIsSoLongThatItsTitleWouldNotFitAboveThePanelsOfAPictureOfTheUsualWidthSoThatItMustBeCutSomewhereButItsBeginningAndEndAreKeptForTheReader;
END
cat >line.mo <<'END'
model Line
  Real x(start = 1, fixed = true), v;
equation
  der(x) = v;
  der(v) = 0;
end Line;
END
pendulum=$models/pendulum.mo
for model in "$pendulum" "$models/ball.mo" long.mo; do
    expect 0 run "$model" --plot run.svg && inside run.svg
    expect 0 run "$model" --points 50 -o one.csv && expect 0 run "$model" --points 90 --rtol 1e-5 -o two.csv
    ends 0 compare one.csv two.csv --tube-x 0.1 --tube-y 0.1 --plot compare.svg && inside compare.svg
done
expect 0 run "$pendulum" --vars x --plot one.svg && inside one.svg
expect 0 run robertson --plot decades.svg && inside decades.svg
expect 0 demo && inside daedal-demo.svg
expect 0 sens "$pendulum" --by L --plot sens.svg && inside sens.svg
expect 0 sens long.mo --by '*' --plot sens.svg && inside sens.svg
expect 0 fit "$models/fit/pinene.mo" "$models/fit/pinene.csv" --fit th=0: --plot fit.svg && inside fit.svg
expect 0 bvp line.mo --end 'x = 2' --plot bvp.svg && inside bvp.svg
expect 0 sweep "$pendulum" --over g=1,2 --keep 'max(x)' --plot sweep.svg --quiet && inside sweep.svg
expect 0 sweep "$pendulum" --over g=1,2 --over L=1,2 --keep 'max(x)' --plot sweep.svg --quiet && inside sweep.svg
expect 0 sweep long.mo --over aParameterWithAVeryLongNameThatIsAtTheAxisOfTheBars=1,2 --keep 'max(x[1])' --plot sweep.svg --quiet
inside sweep.svg
expect 0 check long.mo --incidence incidence.svg && inside incidence.svg
expect 0 check "$pendulum" --incidence incidence.svg && inside incidence.svg
finish
