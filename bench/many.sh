#!/usr/bin/env bash
# Many runs at once, of 100 short steps each: durable steps a second, and what they wait for.
#   bench/many.sh [ROUNDS [RUNS...]]  AYE=PATH measures another binary
# The journal is made in $TMPDIR: it has to be on a real disk for the synced figures to mean anything.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${AYE:-}" ]; then
  AYE=$(cargo build --profile dist --quiet -p aye --message-format=json | sed -n 's/.*"executable":"\([^"]*\/aye\)".*/\1/p' | tail -1)
fi
exec python3 bench/many.py "$(realpath "$AYE")" "${@:-3}"
