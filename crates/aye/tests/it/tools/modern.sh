#!/bin/sh
# A small MCP server of 2026: it asks back instead of answering.
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"method":"server/discover"'*)
      answer '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}' ;;
    *'"method":"tools/list"'*)
      answer '{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"ask","inputSchema":{"type":"object"}},{"name":"list","inputSchema":{"type":"object"}}]}' ;;
    *'"name":"ask"'*)
      answer '{"resultType":"input_required","inputRequests":{"sure":{"method":"elicitation/create","params":{"mode":"form","message":"Sure?","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}}}}}},"requestState":"x"}' ;;
    *'"name":"list"'*)
      answer '{"resultType":"complete","content":[],"structuredContent":[1,null,{"a":2}]}' ;;
  esac
done
