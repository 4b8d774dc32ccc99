#!/usr/bin/env bash
# The process runner, as ratios to the bare limits.
#   bench/process.sh [steps | captures | guard]
set -euo pipefail
cd "$(dirname "$0")/.."
# It measures with the test programs that stand beside it.
cargo build --release --quiet -p aye-process --bins --example bench
exec cargo run --release --quiet -p aye-process --example bench -- "$@"
