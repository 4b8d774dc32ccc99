#!/usr/bin/env bash
# The server: how soon every client has an event, what a client costs, lists however long, answers a second,
# how soon an answer at a terminal withdraws a card. Ratios of things measured in one run.
#   bench/serve.sh [ROUNDS]   AYE=PATH measures another binary; ONLY=fanout,lists,answers,withdraw a part of it;
#                             CLIENTS="1000 5000" other numbers of clients; RUNS=100 of runs
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${AYE:-}" ]; then
  AYE=$(cargo build --profile dist --quiet -p aye --message-format=json | sed -n 's/.*"executable":"\([^"]*\/aye\)".*/\1/p' | tail -1)
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
gcc -O2 -o "$work/bin/fanout" bench/serve/fanout.c
ulimit -n "$(ulimit -Hn)"
python3 bench/serve/bench.py "$(realpath "$AYE")" "$work" "${1:-7}"
