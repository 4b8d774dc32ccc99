# Runs one compute block: reads it and its names, writes its result.
import ast, importlib, json, subprocess, sys

given = json.loads(sys.stdin.read())

# Names people take for granted, imported when they are used.
INSIDE = {
    "Counter": "collections", "Path": "pathlib", "date": "datetime", "datetime": "datetime",
    "defaultdict": "collections", "deque": "collections", "namedtuple": "collections",
    "partial": "functools", "reduce": "functools", "timedelta": "datetime", "timezone": "datetime",
}
MODULES = ("base64", "collections", "functools", "itertools", "json", "math", "os", "re", "typing")


class Mapping(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            keys = ", ".join(map(str, self))
            raise AttributeError(f"the mapping has no key '{name}'; it has: {keys}") from None


def wrap(value):
    if isinstance(value, dict):
        return Mapping((key, wrap(item)) for key, item in value.items())
    if isinstance(value, list):
        return [wrap(item) for item in value]
    return value


def plain(value):
    if isinstance(value, (set, frozenset)):
        return list(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "total_seconds"):
        return value.total_seconds()
    if hasattr(value, "__fspath__"):
        return str(value)
    raise TypeError(f"the result has a {type(value).__name__}, which is no data; write `str(x)`")


def log(*words):
    print(*words)


def emit(name, data=None):
    print(name, json.dumps(data, default=plain))


class Memory:
    def check_known_issues(self, tool_name="", error_text=""):
        found = []
        if given["aye"]:
            asked = [given["aye"], "memory", "check", "-", "--json", "--tool", str(tool_name)]
            said = subprocess.run(asked, input=str(error_text), capture_output=True, text=True)
            found = json.loads(said.stdout or "{}").get("issues", [])
        keys = ("pattern", "meaning", "fix", "commands", "tags")
        matches = [wrap({key: issue.get(key) for key in keys}) for issue in found]
        return Mapping(matches=matches, has_known_issues=bool(matches))

    def __getattr__(self, name):
        if name in ("read", "read_memory", "load_shared_context"):
            return lambda *args, **named: Mapping()
        if name.startswith("get_") and name != "get_timestamp":
            return lambda *args, **named: []
        return lambda *args, **named: None


try:
    tree = ast.parse(given["code"], "<compute>")
    names = {key: wrap(value) for key, value in given["context"].items()}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for name in used - set(names):
        if name in INSIDE:
            names[name] = getattr(importlib.import_module(INSIDE[name]), name)
        elif name in MODULES:
            names[name] = importlib.import_module(name)
        elif name == "env":
            names[name] = Mapping(given["env"])
        elif name == "memory":
            names[name] = Memory()
        elif name in ("log", "emit", "emit_event"):
            names[name] = log if name == "log" else emit
    if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
        value = eval(compile(ast.Expression(tree.body[0].value), "<compute>", "eval"), names)
    else:
        exec(compile(tree, "<compute>", "exec"), names)
        value = next((names[n] for n in (given["output"], "result") if n in names), None)
    text = json.dumps({"value": value}, default=plain, allow_nan=False)
except BaseException as error:
    trace, line = error.__traceback__, getattr(error, "lineno", None)
    while trace:
        if trace.tb_frame.f_code.co_filename == "<compute>":
            line = trace.tb_lineno
        trace = trace.tb_next
    kind, message = type(error).__name__, str(error)
    text = json.dumps({"error": {"kind": kind, "message": message, "line": line}})
sys.stdout.write(given["mark"] + text + "\n")
sys.stdout.flush()
