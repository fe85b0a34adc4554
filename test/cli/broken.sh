#!/bin/sh
# Every wrong model of models/broken.txt: the message of check, init or run names the lines, unknowns
# and fixed values of its culprit set. broken.sh <path of daedal>. Exit 0 if nothing failed.
. "$(dirname "$0")/common.inc"

count=0

# Messages that do not name the whole set yet: of constraints that become dependent the unknowns that
# they leave open are missing.
open=" redundantrod conductances "

# Whether the message contains a word by itself.
names() { grep -qF -- "$1" err && awk -v w="$1" '
    { text = $0; while ((at = index(text, w)) > 0) {
          before = at > 1 ? substr(text, at - 1, 1) : " "; after = substr(text, at + length(w), 1)
          if (before !~ /[A-Za-z0-9_.]/ && after !~ /[A-Za-z0-9_[]/) found = 1
          text = substr(text, at + length(w)) } }
    END { exit !found }' err; }

check_model() {
    [ -n "$model" ] || return 0
    count=$((count + 1))
    (cd "$models/broken" && "$daedal" "$stage" "$model.mo" --quiet) >out 2>err </dev/null
    code=$?
    missing=
    [ "$code" -ne 0 ] || missing="$missing exit-code"
    for line in $lines; do
        grep -q -- "$model.mo:$line[^0-9]" err || missing="$missing line:$line"
    done
    for name in $unknowns $fixed; do
        names "$name" || missing="$missing $name"
    done
    named=
    for name in $parameters; do names "$name" && named=yes; done
    [ -z "$parameters" ] || [ -n "$named" ] || missing="$missing parameter:$parameters"
    case $open in
    *" $model "*)
        [ -n "$missing" ] || fail "$model is right now: take it off the list"
        ;;
    *)
        [ -z "$missing" ] || fail "daedal $stage $model.mo does not name$missing"
        ;;
    esac
}

model=
while read -r word rest; do
    case $word in
    model) check_model; model=$rest stage= kind= lines= unknowns= fixed= parameters= ;;
    stage) stage=$rest ;;
    kind) kind=$rest ;;
    lines) lines=$rest ;;
    names | under) [ "$kind" = conflicting ] || unknowns="$unknowns $rest" ;; # equations tell it
    fixed) fixed=$rest ;;
    parameter) [ "$stage" = run ] || parameters=$rest ;; # one of them at least
    esac
done <"$models/broken.txt"
check_model
[ "$count" -ge 25 ] || fail "only $count models"
echo "$count wrong models"
finish
