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
say review "$here/moonmoth" --as-of 2026-12-01 --limit 5
say sql "select top_dir, count(*) as concepts, sum(trust_current = 'human-reviewed') as reviewed from catalog group by 1 order by 2 desc limit 5"
say bundles
cat <<EOF

The catalog is $OKF_CATALOG_DB, one SQLite file. Open it with
sqlite3, or browse it in Datasette: search, facets, a page for each concept, the graph:
  sqlite3 $OKF_CATALOG_DB 'select title, trust_tier from catalog limit 5'
  $okf server --db $OKF_CATALOG_DB
EOF
