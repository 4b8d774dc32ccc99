# Runs one compute block: reads it and its names, writes its result.
import ast, importlib, json, os, subprocess, sys

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


class Inputs(Mapping):
    # One that was not given is None, and has no value all the same.
    def get(self, name, default=None):
        value = super().get(name)
        return default if value is None else value


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
    print(f"{name}: {json.dumps(data, default=plain)}")


# What the block asked memory so far. Nothing is written here: Aye does that once the step has gone well.
calls, start = [], os.getcwd()


class Memory:
    def __getattr__(self, name):
        def call(*args, **named):
            if not given["aye"]:
                raise RuntimeError("memory cannot be reached from here")
            asked = json.dumps(calls + [[name, args, named]], default=plain)
            said = subprocess.run(
                [given["aye"], "memory", "call"], input=asked, capture_output=True, text=True, cwd=start
            )
            answer = json.loads(said.stdout or json.dumps({"error": said.stderr.strip()}))
            if "error" in answer:
                raise RuntimeError(answer["error"])
            calls.append([name, args, named])
            return wrap(answer["value"])

        return call


try:
    tree = ast.parse(given["code"], "<compute>")
    names = {key: wrap(value) for key, value in given["context"].items()}
    if isinstance(names.get("inputs"), Mapping):
        names["inputs"] = Inputs(names["inputs"])
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
    text = json.dumps({"value": value, "memory": calls}, default=plain, allow_nan=False)
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
