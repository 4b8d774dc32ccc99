#!/usr/bin/env bash
# The process runner, as ratios to the bare limits.
set -euo pipefail
cd "$(dirname "$0")/.."
exec cargo run --release --quiet -p aye-process --example bench -- "$@"
