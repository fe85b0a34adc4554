#!/bin/sh
# What is shown on a terminal while the command works: parts of the whole, between 0 and 100 %.
#   progress.sh <path of daedal>
. "$(dirname "$0")/common.inc"

cat >slow.mo <<'END'
model Slow
  Real x[60](each start = 1, each fixed = true);
equation
  for i in 1:60 loop
    der(x[i]) = -i*x[i] + sin(i*time*50);
  end for;
end Slow;
END
# The command on a terminal of its own. It sleeps for a second, after which progress is shown.
cat >watch.py <<'END_OF_PYTHON'
import os, pty, re, signal, sys, time
from threading import Timer

process, terminal = pty.fork()
if process == 0:
    os.execv(sys.argv[1], sys.argv[1:])

def sleep():
    try:
        os.kill(process, signal.SIGSTOP)
        time.sleep(1.1)
        os.kill(process, signal.SIGCONT)
    except ProcessLookupError:
        pass

Timer(0.15, sleep).start()
text = b''
while True:
    try:
        block = os.read(terminal, 4096)
    except OSError:
        break
    if not block:
        break
    text += block
_, status = os.waitpid(process, 0)
parts = re.findall(r'\] *(\S+) %', text.decode())
print(len(parts), 'lines of progress')
wrong = [p for p in parts if not (p.isdigit() and int(p) <= 100)]
if wrong or b'inf' in text or b'nan' in text or b', 0 s left' in text and b' 0 %' in text:
    sys.exit('progress of %s: %s\n%s' % (sys.argv[2], wrong[:3], text[-300:]))
sys.exit(os.waitstatus_to_exitcode(status))
END_OF_PYTHON
shown() { python3 watch.py "$daedal" "$@" >out 2>err || fail "progress of daedal $*"; }

shown run slow.mo --engine tape --stop 4
shown verify slow.mo --engine tape --stop 4
shown sweep slow.mo --engine tape --stop 4 --over 'x[1]=1,2' --keep 'max(x[1])' --jobs 1 -o s.csv
finish
