#!/bin/sh
# A small MCP server that asks in the middle of a call, in the manner of the
# year $1. What it wants to know is in the file $2; it notes each answer in $3.
era=$1 form=$2 notes=$3
result() { printf '{"jsonrpc":"2.0","id":%s,"result":{%s}}\n' "$id" "$1"; }
more=
if [ "$era" = 2026 ]; then more='"resultType":"complete","ttlMs":0,"cacheScope":"private",'; fi
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"method":"server/discover"'*)
      if [ "$era" = 2026 ]; then
        result "$more\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}}"
      else
        printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"what?"}}\n' "$id"
      fi ;;
    *'"method":"initialize"'*)
      result '"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}' ;;
    *'"method":"tools/list"'*)
      result "$more\"tools\":[{\"name\":\"ask\",\"inputSchema\":{\"type\":\"object\"}}]" ;;
    *'"method":"tools/call"'*)
      params=$(tr -d '\n' <"$form")
      if [ "$era" = 2025 ]; then
        call=$id
        printf '{"jsonrpc":"2.0","id":99,"method":"elicitation/create","params":%s}\n' "$params"
        IFS= read -r line || exit 0
        id=$call
      elif ! printf '%s' "$line" | grep -q '"inputResponses"'; then
        result "\"resultType\":\"input_required\",\"requestState\":\"x7\",\"inputRequests\":{\"q\":{\"method\":\"elicitation/create\",\"params\":$params}}"
        continue
      fi
      printf '%s\n' "$line" >>"$notes"
      result "$more\"content\":[{\"type\":\"text\",\"text\":\"told\"}]" ;;
  esac
done
