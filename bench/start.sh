#!/usr/bin/env bash
# Start-up and step cost of the release binary, next to its peers.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --quiet -p aye
aye=$(cargo build --release --quiet -p aye --message-format=json 2>/dev/null | sed -n 's/.*"executable":"\([^"]*\/aye\)".*/\1/p' | tail -1)
AYE="${aye:-target/release/aye}" cargo run --release --quiet -p aye --example start_bench -- "$@"
