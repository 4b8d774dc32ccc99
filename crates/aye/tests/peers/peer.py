"""A real MCP client on the Python SDK, 1.x or 2.x, driven by JSON lines: see README.md."""

import asyncio
import json
import sys
import warnings
from contextlib import AsyncExitStack
from datetime import timedelta
from importlib.metadata import version

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

MODERN = int(version("mcp").split(".")[0]) >= 2
# Longer than any test waits: what ends a call is the server or the test.
PATIENCE = 600

if MODERN:
    import httpx2 as httpx
    import mcp_types as types
    from mcp import Client
else:
    import httpx
    import mcp.types as types


# The SDK warns of what only the older protocol has; here that is meant.
warnings.simplefilter("ignore")


def say(line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def plain(value):
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


class Asking:
    """Answers elicitations the way the test said, or waits for its answer."""

    def __init__(self):
        self.how = {"how": "ask"}
        self.open = {}
        self.count = 0

    async def __call__(self, _context, params):
        self.count += 1
        number, how = self.count, self.how
        if how["how"] == "ask":
            self.open[number] = asyncio.get_running_loop().create_future()
        say({"event": "elicitation", "number": number, "params": plain(params)})
        if how["how"] == "ask":
            how = await self.open[number]
        else:
            await asyncio.sleep(how.get("after", 0) / 1000)
        content = how.get("content") if how["how"] == "accept" else None
        return types.ElicitResult(action=how["how"], content=content)

    def answer(self, command):
        self.open.pop(command["number"]).set_result({**command, "how": command["action"]})


async def on_message(message):
    message = getattr(message, "root", message)
    if isinstance(message, Exception):
        say({"event": "broken", "message": str(message)})
    elif hasattr(message, "method") and message.method != "notifications/progress":
        say({"event": "notification", **plain(message)})


async def transport(stack, command):
    if "stdio" in command:
        return StdioServerParameters(**command["stdio"])
    where = command["http"]
    headers = {"Authorization": f"Bearer {where['token']}"} if where.get("token") else {}
    http = await stack.enter_async_context(httpx.AsyncClient(headers=headers, timeout=PATIENCE))
    return streamable_http_client(where["url"], http_client=http)


class Old:
    """A connection of SDK 1.x."""

    def __init__(self, session, initialized):
        self.session = session
        self.about = {
            "protocol": initialized.protocolVersion,
            "server": plain(initialized.serverInfo),
            "capabilities": plain(initialized.capabilities),
            "instructions": initialized.instructions,
        }

    @classmethod
    async def connect(cls, stack, command, asking):
        to = await transport(stack, command)
        streams = await stack.enter_async_context(stdio_client(to) if "stdio" in command else to)
        callback = asking if command.get("elicitation", True) else None
        session = ClientSession(*streams[:2], elicitation_callback=callback, message_handler=on_message)
        session = await stack.enter_async_context(session)
        return cls(session, await session.initialize())

    async def call(self, command, progress):
        return await self.session.call_tool(
            command["tool"],
            command.get("args", {}),
            read_timeout_seconds=timedelta(seconds=PATIENCE),
            progress_callback=progress,
        )

    async def read(self, uri):
        return await self.session.read_resource(uri)

    async def subscribe(self, uri):
        return await self.session.subscribe_resource(uri)


class New:
    """A connection of SDK 2.x, in either era."""

    def __init__(self, stack, client):
        self.stack, self.client, self.session = stack, client, client
        self.about = {
            "protocol": client.protocol_version,
            "server": plain(client.server_info) if client.server_info else None,
            "capabilities": plain(client.server_capabilities),
            "instructions": client.instructions,
        }

    @classmethod
    async def connect(cls, stack, command, asking):
        client = Client(
            await transport(stack, command),
            mode=command.get("mode", "auto"),
            read_timeout_seconds=PATIENCE,
            elicitation_callback=asking if command.get("elicitation", True) else None,
            message_handler=on_message,
            cache=None,
        )
        return cls(stack, await stack.enter_async_context(client))

    async def call(self, command, progress):
        name, args = command["tool"], command.get("args", {})
        if not command.get("once"):
            return await self.client.call_tool(name, args, progress_callback=progress)
        return await self.client.session.call_tool(
            name,
            args,
            progress_callback=progress,
            input_responses=command.get("responses"),
            request_state=command.get("state"),
            allow_input_required=True,
        )

    async def read(self, uri):
        return await self.client.read_resource(uri)

    async def subscribe(self, uri):
        if self.client.protocol_version < "2026":
            return await self.client.subscribe_resource(uri)
        subscription = await self.stack.enter_async_context(self.client.listen(resource_subscriptions=[uri]))
        asyncio.get_running_loop().create_task(listen(subscription))
        return types.EmptyResult()


async def listen(subscription):
    async for event in subscription:
        params = {"uri": event.uri} if hasattr(event, "uri") else {"event": repr(event)}
        say({"event": "notification", "method": "notifications/resources/updated", "params": params})


async def do(link, command):
    async def progress(done, total, message):
        say({"event": "progress", "call": command["id"], "progress": done, "total": total, "message": message})

    match command["do"]:
        case "call":
            return plain(await link.call(command, progress))
        case "tools":
            return plain(await link.session.list_tools())
        case "resources":
            return plain(await link.session.list_resources())
        case "templates":
            return plain(await link.session.list_resource_templates())
        case "prompts":
            return plain(await link.session.list_prompts())
        case "read":
            return plain(await link.read(command["uri"]))
        case "prompt":
            return plain(await link.session.get_prompt(command["name"], command.get("args", {})))
        case "subscribe":
            return plain(await link.subscribe(command["uri"]))
        case other:
            raise ValueError(f"unknown command {other}")


async def answered(link, command):
    try:
        say({"id": command["id"], "result": await do(link, command)})
    except asyncio.CancelledError:
        say({"id": command["id"], "error": {"message": "cancelled"}})
    except BaseException as error:
        say({"id": command["id"], "error": failure(error)})


def failure(error):
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    data = getattr(error, "error", None)
    return {"kind": type(error).__name__, "code": getattr(data, "code", None), "message": str(error)}


async def connection(command, commands):
    """Everything from a `connect` to its `close`."""
    asking, running = Asking(), {}
    async with AsyncExitStack() as stack:
        link = await (New if MODERN else Old).connect(stack, command, asking)
        say({"id": command["id"], "result": link.about})
        while (command := await commands.get()) is not None and command["do"] != "close":
            match command["do"]:
                case "answering":
                    asking.how = command
                    say({"id": command["id"], "result": {}})
                case "answer":
                    asking.answer(command)
                    say({"id": command["id"], "result": {}})
                case "cancel":
                    running[command["call"]].cancel()
                    say({"id": command["id"], "result": {}})
                case "subscribe":
                    # Its stream lives as long as the connection does.
                    await answered(link, command)
                case _:
                    task = asyncio.get_running_loop().create_task(answered(link, command))
                    running[command["id"]] = task
        for task in running.values():
            task.cancel()
        await asyncio.gather(*running.values(), return_exceptions=True)
    return command


async def main():
    commands = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def read():
        for line in sys.stdin:
            loop.call_soon_threadsafe(commands.put_nowait, json.loads(line))
        loop.call_soon_threadsafe(commands.put_nowait, None)

    loop.run_in_executor(None, read)
    while (command := await commands.get()) is not None:
        if command["do"] != "connect":
            say({"id": command["id"], "error": {"message": "not connected"}})
            continue
        try:
            command = await connection(command, commands)
        except BaseException as error:
            say({"id": command["id"], "error": failure(error)})
            continue
        if command is None:
            return
        say({"id": command["id"], "result": {}})


asyncio.run(main())
