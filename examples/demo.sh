#!/bin/sh
# The main job on the example bundle: sync, find, the review queue, a look inside.
# usage: demo.sh OKF_CATALOG_COMMAND WORK_DIRECTORY
set -eu
okf=$1
work=$2
here=$(dirname "$0")
mkdir -p "$work"
rm -f "$work"/catalog.db*
OKF_CATALOG_DB=$work/catalog.db
export OKF_CATALOG_DB

say() {
    printf '\n$ okf-catalog'
    for word in "$@"; do
        case $word in
            *[\ \"]*) printf ' "%s"' "$word" ;;
            *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$okf" "$@"
}

say sync "$here/moonmoth"
say sync "$here/moonmoth"
say find "$here/moonmoth" --type metric
say find "$here/moonmoth" --as-of 2027-01-01 --ask "stale runbooks"
say search "$here/moonmoth" berth-night --limit 3
say show metrics/berth-occupancy.md --no-body
say sql "select path, effective_status, trust_current, stale_after from catalog where is_stale or trust_current = 'unverified' order by stale_after is null, stale_after limit 8"
say bundles
cat <<EOF

The catalog is $OKF_CATALOG_DB, one SQLite file. Open it with
  sqlite3 $OKF_CATALOG_DB 'select title, trust_tier from catalog limit 5'
  $(dirname "$okf")/datasette serve $OKF_CATALOG_DB -m datasette-metadata.yml
EOF
