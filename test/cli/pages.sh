#!/bin/sh
# The commands of the pages work as they stand there: those of README.md and of pages that a reader tries first.
#   pages.sh <path of daedal>
. "$(dirname "$0")/common.inc"

# The files that the pages speak of: their own models, those of the repository, and made-up data.
mkdir files bin
ln -s "$daedal" bin/daedal
ln -s "$models" files/models
ln -s "$models/structure" files/structure
ln -s "$root/examples" files/examples
cp "$models"/*.mo "$models"/broken/*.mo "$models"/fit/* "$root"/examples/*.mo files
cp "$models/pendulum.mo" files/big.mo
cp "$models/hires.mo" files/reactor.mo
printf 'time [s],u [V]\n0,0\n1,1\n20,1\n' >files/u.csv
printf 'time,load\n0,0\n1,1\n20,1\n' >files/load.csv
printf 'time [s],voltage [V]\n0,0\n1,1\n20,1\n' >files/data.csv

cat >pages.py <<'END_OF_PYTHON'
import glob, os, re, shutil, subprocess, sys

root, pages = sys.argv[1], sys.argv[2:]

def blocks(page):
    text = open(os.path.join(root, page)).read()
    return re.findall(r'^```(\w*)\n(.*?)^```', text, re.M | re.S)

def models(page):
    found = {}
    for _, block in blocks(page):
        for m in re.finditer(r'^model (\w+)\b.*?^end \1;', block, re.M | re.S):
            found[m[1].lower() + '.mo'] = m[0] + '\n'
    return found

def commands(page):
    """The commands of a page, each with the line below it, without the comment at its end."""
    for language, block in blocks(page):
        lines = block.replace('\\\n', '').split('\n')
        for line, below in zip(lines, lines[1:]):
            m = re.match(r'(\$ )?(daedal .*)', line)
            if m and language in ('', 'sh'):
                yield m[2], below if m[1] else ''

def works(page, command, below):
    got = subprocess.run(['sh', '-c', command], capture_output=True, text=True, cwd='here')
    if re.match('daedal: (?!note)', below) or ': error: ' in below: # the page shows how it fails
        return got.returncode != 0 and below.split('..')[0][:60] in got.stderr
    return got.returncode == 0

# What needs other files than those above, or shows which words there are.
LEFT_OUT = ('daedal fit pendulum.mo data.csv', 'reference.csv', 'crane.mo --at', 'daedal run big.mo --engine petsc',
            'daedal linearise motor.mo', 'daedal check pressure.mo', 'daedal sens pendulum.mo   ')

wrong = 0
for page in pages:
    shutil.rmtree('here', ignore_errors=True)
    shutil.copytree('files', 'here', symlinks=True)
    texts = dict(models('docs/inputs.md'))
    texts.update(models(page))
    for name, text in texts.items():
        open(os.path.join('here', name), 'w').write(text)
    for command, below in commands(page):
        if any(part in command for part in LEFT_OUT):
            continue
        if not works(page, command, below):
            print('%s: %s' % (page, command))
            wrong += 1
sys.exit(wrong > 0)
END_OF_PYTHON
PATH=$work/bin:$PATH python3 pages.py "$root" README.md docs/command.md docs/guide.md docs/inputs.md docs/bvp.md \
    docs/structure.md docs/linearise.md docs/sensitivity.md docs/optimality.md docs/verify.md >out 2>err || fail "commands of the pages do not work"

# the lines for Octave, where it is installed: they draw the column of phi
sed -n '/^```modelica/,/^```$/p' "$root/docs/command.md" | sed -n '/^model Pendulum/,/^end Pendulum/p' >pendulum.mo
expect 0 run pendulum.mo -o pendulum.mat && expect 0 run pendulum.mo -o - --vars phi && tail -n 1 out | cut -d, -f2 >phi
sed -n "/^s = load('pendulum.mat')/,/^plot/p" "$root/docs/command.md" |
    sed 's/^plot(\(.*\))$/x = {\1}; printf("%.17g\\n", x{2}(end))/' >lines.m
[ "$(wc -l <lines.m)" -eq 4 ] || fail "no lines for Octave"
if command -v octave-cli >/dev/null; then
    octave-cli lines.m >out 2>err
    grep -qxF -- "$(cat phi)" out || fail "the lines for Octave find something else than $(cat phi)"
fi
finish
