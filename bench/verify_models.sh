#!/bin/sh
# The table of `daedal verify` over all models, by method auto at three tolerances:
#     bench/verify_models.sh [daedal] [directory of models] [seconds for each]
# A cell is the largest error of a variable in tolerances, with the variable; what cannot be told,
# fails or takes too long is said. The last line counts the cells beyond 100.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
daedal=${1:-$root/build/daedal}
models=${2:-$root/models}
seconds=${3:-60}
report=$(mktemp)
trap 'rm -f "$report"' EXIT
beyond=0
cells=0

member() { sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$report"; }

cell() {
    : >"$report"
    timeout "$seconds" "$daedal" verify "$1" --rtol "$2" --json "$report" --quiet >/dev/null 2>&1
    code=$?
    cells=$((cells + 1))
    case $code in
    0) printf ' %.2g |' "$(member worst_tolerances)" ;;
    4)
        printf ' **%.2g** %s |' "$(member worst_tolerances)" "$(member worst)"
        beyond=$((beyond + 1))
        ;;
    5) printf ' unknown beyond t = %.3g |' "$(member trusted_until)" ;;
    124) printf ' above %s s |' "$seconds" ;;
    *) printf ' exit %s |' "$code" ;;
    esac
}

echo '| model | 1e-4 | 1e-6 | 1e-8 |'
echo '|---|---|---|---|'
for model in "$models"/*.mo "$models"/structure/*.mo; do
    [ -f "$model" ] || continue
    name=${model#"$models"/}
    printf '| %s |' "${name%.mo}"
    for rtol in 1e-4 1e-6 1e-8; do cell "$model" "$rtol"; done
    echo
done
echo
echo "$beyond of $cells cells are beyond 100 tolerances."
