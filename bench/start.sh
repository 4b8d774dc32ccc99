#!/usr/bin/env bash
# Start-up and step cost of the packaged binary, next to its peers.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --profile dist --quiet -p aye
aye=$(cargo build --profile dist --quiet -p aye --message-format=json 2>/dev/null | sed -n 's/.*"executable":"\([^"]*\/aye\)".*/\1/p' | tail -1)
AYE="${aye:-target/dist/aye}" cargo run --profile dist --quiet -p aye --example start_bench -- "$@"
