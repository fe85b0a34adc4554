#!/bin/sh
# What `daedal check` refuses `daedal run` refuses, in the same words, over all models that are
# broken or have a difficult structure, and the traps. agree.sh <path of daedal>. Exit 0 if nothing
# failed.
. "$(dirname "$0")/common.inc"

refused=0

for file in "$models"/broken/*.mo "$models"/structure/*.mo "$models"/traps/*.mo; do
    cd "$(dirname "$file")" || exit 1
    model=$(basename "$file")
    "$daedal" check --quiet "$model" >"$work/out" 2>"$work/check" </dev/null
    code=$?
    [ "$code" -ne 0 ] || continue
    refused=$((refused + 1))
    "$daedal" run --quiet "$model" >"$work/out" 2>"$work/run" </dev/null
    other=$?
    [ "$code" -eq "$other" ] || {
        fail "$model: check ends with $code, run with $other"
        continue
    }
    grep '^daedal: \|error:' "$work/run" | grep -v 'daedal: note\|daedal: warning' >"$work/words"
    while IFS= read -r line; do
        grep -qF -- "$line" "$work/check" || fail "$model: check does not say: $line"
    done <"$work/words"
done
echo "$refused models refused by both"
[ "$refused" -ge 20 ] || fail "only $refused models"
finish
