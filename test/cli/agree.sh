#!/bin/sh
# What `daedal check` refuses `daedal run` refuses, in the same words, over all models that are
# broken or have a difficult structure, and the traps. agree.sh <path of daedal>. Exit 0 if nothing
# failed.
set -u
daedal=${1:?usage: agree.sh path-of-daedal}
root=$(cd "$(dirname "$0")/../.." && pwd)
case $daedal in /*) ;; *) daedal=$PWD/$daedal ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
refused=0

for file in "$root"/models/broken/*.mo "$root"/models/structure/*.mo "$root"/models/traps/*.mo; do
    cd "$(dirname "$file")" || exit 1
    model=$(basename "$file")
    "$daedal" check --quiet "$model" >"$work/out" 2>"$work/check" </dev/null
    code=$?
    [ "$code" -ne 0 ] || continue
    refused=$((refused + 1))
    "$daedal" run --quiet "$model" >"$work/out" 2>"$work/run" </dev/null
    other=$?
    [ "$code" -eq "$other" ] || {
        echo "FAILED: $model: check ends with $code, run with $other"
        failures=1
        continue
    }
    grep '^daedal: \|error:' "$work/run" | grep -v 'daedal: note\|daedal: warning' >"$work/words"
    while IFS= read -r line; do
        grep -qF -- "$line" "$work/check" || {
            echo "FAILED: $model: check does not say: $line"
            failures=1
        }
    done <"$work/words"
done
echo "$refused models refused by both"
[ "$refused" -ge 20 ] || failures=1
exit $failures
