# A server with the Python SDK of 2026 that asks in the middle of a call.

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

server = MCPServer("asking")


@server.tool()
async def book(ctx: Context) -> str | InputRequiredResult:
    answers = ctx.input_responses
    if answers is None:
        schema = {
            "type": "object",
            "properties": {"seat": {"type": "integer", "minimum": 1, "maximum": 9}},
            "required": ["seat"],
        }
        asked = ElicitRequest(params=ElicitRequestFormParams(message="Which seat?", requested_schema=schema))
        return InputRequiredResult(input_requests={"seat": asked}, request_state="row 7")
    answer = answers["seat"]
    return f"{answer.action} {answer.content} in {ctx.request_state}"


server.run()
