#!/usr/bin/env bash
# 100 MB through one step of the packaged binary, as ratios to the bare pipeline of the same round.
#   bench/output.sh [ROUNDS]          AYE=PATH measures another binary
# Limits, of the bare pipeline (`tee` beside it keeps a copy, as Aye does): quiet and detached 2.5, piped 5, JSON 12; a terminal, folded or with
# `--output full`, 1.5 of what the terminal itself takes.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${AYE:-}" ]; then
  AYE=$(cargo build --profile dist --quiet -p aye --message-format=json | sed -n 's/.*"executable":"\([^"]*\/aye\)".*/\1/p' | tail -1)
fi
exec python3 bench/output.py "$(realpath "$AYE")" "${1:-5}"
