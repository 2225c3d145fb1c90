#!/bin/sh
# Write INDEX.md, run findings in parallel, and print the time of each and those that changed; exit 1 if any did.
# usage: run.sh [NAME …]    JOBS: how many at once; LIMIT: seconds for each
set -u
cd "$(dirname "$0")" || exit 2
export LOGS=$(mktemp -d) LIMIT="${LIMIT:-180}"
export TMPDIR="$LOGS"  # so that what a finding which is ended leaves is removed, too
trap 'rm -rf "$LOGS"' EXIT

list() { [ $# -gt 0 ] && printf '%s\n' "$@" || ls -- *.sh | grep -v '^run.sh$' | sed 's/\.sh$//'; }

{
    printf '# Findings by package\n\n`make findings` writes this page.\n\n| package | finding | behaviour |\n|---|---|---|\n'
    for name in $(list); do
        awk -v name="$name" '/^# Package: / { p = substr($0, 12); sub(/,.*/, "", p) }
            /^# Behaviour: / { printf "| %s | [%s](%s.sh) | %s |\n", p, name, name, substr($0, 14) }' "$name.sh"
    done | LC_ALL=C sort
} > INDEX.md

list "$@" | xargs -P "${JOBS:-$(getconf _NPROCESSORS_ONLN)}" -I NAME \
    sh -c 'since=$(date +%s); timeout "$LIMIT" "./$1.sh" > "$LOGS/$1" 2>&1; echo $? > "$LOGS/$1.rc"; echo "$1 $(($(date +%s) - since)) s"' - NAME

count=0 bad=0
for name in $(list "$@"); do
    count=$((count + 1))
    rc=$(cat "$LOGS/$name.rc")
    [ "$rc" = 0 ] && continue
    bad=$((bad + 1))
    case "$rc" in 124) what="took more than $LIMIT s" ;; *) grep -q 'AssertionError' "$LOGS/$name" && what=changed || what="did not run" ;; esac
    echo "$name $what: $(tail -n 1 "$LOGS/$name")"
done
echo "$count findings, $bad changed or not run"
[ "$bad" = 0 ]
