#!/usr/bin/env bash
# Builds of Aye against each other: start-up, one step, 1,000 steps; interleaved, ratios to the first.
#   bench/compare.sh BEFORE AFTER...
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
binaries=()
for path in "$@"; do binaries+=("$(realpath "$path")"); done
cd "$here"
exec cargo run --release --quiet -p aye --example start_bench -- compare "${binaries[@]}"
