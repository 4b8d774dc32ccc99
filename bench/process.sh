#!/usr/bin/env bash
# The process runner, as ratios to the bare limits.
#   bench/process.sh [steps | captures | guard]
set -euo pipefail
cd "$(dirname "$0")/.."
exec cargo run --profile dist --quiet -p aye-process --example bench -- "$@"
