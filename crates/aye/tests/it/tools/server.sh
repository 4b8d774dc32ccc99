#!/bin/sh
# A small MCP server of 2025 for what real ones do not do. It notes every line
# it gets in $1; what it does is in the name of the tool that is called.
notes=$1
echo "$$" >"$notes.pid"
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
say() { answer "{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}"; }
tool() { printf '{"name":"%s","inputSchema":{"type":"object","properties":{"count":{"type":"integer"}},"additionalProperties":false}}' "$1"; }
while IFS= read -r line; do
  printf '%s\n' "$line" >>"$notes"
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"method":"initialize"'*)
      answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      answer "{\"tools\":[$(tool fine),$(tool die),$(tool never),$(tool ask),$(tool nonsense),$(tool huge),$(tool mute)]}" ;;
    *'"method":"tools/call"'*)
      case $line in
        *'"name":"fine"'*) say "Status: fine" ;;
        *'"name":"die"'*) echo "out of cheese" >&2; exit 7 ;;
        *'"name":"never"'*) ;;
        *'"name":"mute"'*) exec >/dev/null ;;
        *'"name":"nonsense"'*) answer '[1,2,3]' ;;
        *'"name":"huge"'*) printf '{"jsonrpc":"2.0","id":%s,"result":"' "$id"; head -c 17825792 /dev/zero | tr '\0' x; printf '"}\n' ;;
        *'"name":"ask"'*)
          printf '{"jsonrpc":"2.0","id":99,"method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{"type":"object","properties":{}}}}\n'
          IFS= read -r reply
          printf '%s\n' "$reply" >>"$notes"
          say "asked" ;;
      esac ;;
  esac
done
