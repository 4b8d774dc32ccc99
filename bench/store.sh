#!/bin/sh
# How fast the store is; the figures are in bench/store.md.
#   bench/store.sh [commits | wake | opening | verifying | queries [EVENTS]]
# The journals are made in $TMPDIR: it has to be on a real disk for the
# synced figures to mean anything, and hold about a gigabyte.
set -eu
cd "$(dirname "$0")/.."
exec cargo run --quiet --profile dist -p aye-runtime --example store_bench -- "$@"
