"""An MCP server that has every tool it is told of, and the same answer for all."""

import json
import sys

ANSWER = """Result of {tool}
Key: AAP-12345
Summary: Fix the login page
Status: In Progress
State: opened
Branch: main
Author: ada
Pipeline: success
abc1234 first commit
def5678 second commit
- item one
!1403 AAP-12345 - fix login
"""

with open(sys.argv[1], encoding="utf-8") as file:
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in json.load(file)]
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    match message["method"]:
        case "initialize":
            reply["result"] = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "stub", "version": "1"},
            }
        case "tools/list":
            reply["result"] = {"tools": tools}
        case "tools/call":
            text = ANSWER.replace("{tool}", message["params"]["name"])
            reply["result"] = {"content": [{"type": "text", "text": text}]}
        case _:
            reply["error"] = {"code": -32601, "message": "no such method"}
    print(json.dumps(reply), flush=True)
