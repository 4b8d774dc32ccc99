# Work memory as B.7 and D of the reference describe it, in CPython: what a
# block or a tool step with these calls leaves in the files. Work comes in as
# JSON, files go out as JSON.
import ast, copy, datetime, json, re, signal, sys

NOW = datetime.datetime(2026, 1, 1, 12, 30, tzinfo=datetime.timezone.utc)
STAMP = "2026-01-01T12:30:00Z"


class Frozen(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return (NOW.astimezone(tz) if tz else NOW.replace(tzinfo=None))

    @classmethod
    def utcnow(cls):
        return NOW.replace(tzinfo=None)

    @classmethod
    def today(cls):
        return NOW.replace(tzinfo=None)


frozen = type(sys)("datetime")
frozen.__dict__.update({k: v for k, v in vars(datetime).items() if not k.startswith("__")})
frozen.datetime = Frozen
sys.modules["datetime"] = frozen


class Mapping(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def wrap(value):
    if isinstance(value, dict):
        return Mapping((key, wrap(item)) for key, item in value.items())
    if isinstance(value, list):
        return [wrap(item) for item in value]
    return value


def plain(value):
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(type(value).__name__)


def data(value):
    return json.loads(json.dumps(value, default=plain, allow_nan=False))


def words(value):
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)


class Memory:
    def __init__(self):
        self.files, self.fixes = {}, []

    def _key(self, key):
        key = key[:-5] if key.endswith(".yaml") else key
        return key if key.startswith("state/") else "state/" + key

    def _at(self, key, path, make):
        at = self.files.setdefault(self._key(key), {})
        *way, last = path.split(".")
        for part in way:
            at = at.setdefault(part, {})
        if make is not None and last not in at:
            at[last] = make
        return at, last

    def read_memory(self, key):
        return wrap(copy.deepcopy(self.files.get(self._key(key), {})))

    def write_memory(self, key, data_, validate=True):
        self.files[self._key(key)] = data(data_)
        return True

    def append_to_list(self, key, list_path, item, match_key=None):
        item = data(item)
        at, last = self._at(key, list_path, [])
        if match_key and item.get(match_key):
            for i, known in enumerate(at[last]):
                if known.get(match_key) == item[match_key]:
                    at[last][i] = item
                    return True
        at[last].append(item)
        return True

    def remove_from_list(self, key, list_path, match_key, match_value):
        if self._key(key) not in self.files:
            return 0
        at, last = self._at(key, list_path, [])
        before = len(at[last])
        at[last] = [one for one in at[last] if str(one.get(match_key, "")) != str(match_value)]
        return before - len(at[last])

    def update_field(self, key, path, value):
        at, last = self._at(key, path, None)
        at[last] = data(value)
        return True

    def get_timestamp(self):
        return STAMP

    def get_follow_ups(self):
        return wrap(copy.deepcopy(self.files.get("state/current_work", {}).get("follow_ups", [])))

    def add_follow_up(self, task, priority="normal", issue_key="", mr_id=0):
        item = {"task": task, "priority": priority, "created": STAMP}
        if issue_key:
            item["issue_key"] = issue_key
        if mr_id:
            item["mr_id"] = mr_id
        return self.append_to_list("state/current_work", "follow_ups", item)

    def check_known_issues(self, tool_name="", error_text=""):
        return Mapping({"matches": [], "has_known_issues": False})

    def learn_tool_fix(self, tool_name, error_pattern, root_cause, fix_description):
        self.fixes.append([tool_name, error_pattern, root_cause, fix_description])
        return True

    # As tools.
    def memory_append(self, key, list_path, item):
        return self.append_to_list(key, list_path, item)

    def memory_update(self, key, path, value):
        return self.update_field(key, path, value)

    def memory_write(self, key, content):
        return self.write_memory(key, content)

    def memory_read(self, key=""):
        return self.read_memory(key)

    def memory_session_log(self, action, details=""):
        key = "state/sessions/2026-01-01"
        self.files.setdefault(key, {"date": "2026-01-01", "entries": []})
        entry = {"time": "12:30:00", "action": words(action), "details": words(details)}
        self.files[key]["entries"].append(entry)
        return True


MODULES = ("re", "datetime", "json")
NAMES = ("open", "Path", "os", "eval", "exec", "load_config", "parsers")


def is_pure(tree, given):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and any(a.name not in MODULES for a in node.names):
            return False
        if isinstance(node, ast.ImportFrom) and node.module not in MODULES:
            return False
        if isinstance(node, ast.Name) and node.id in NAMES and node.id not in given:
            return False
    return True


def out_of_time(*_):
    raise TimeoutError("too slow")


signal.signal(signal.SIGALRM, out_of_time)
answers = []
for work in json.load(sys.stdin):
    memory = Memory()
    for key, value in work.get("files", {}).items():
        memory.files[key] = value
    signal.alarm(3)
    try:
        if "tool" in work:
            getattr(memory, work["tool"])(**work["args"])
        else:
            tree = ast.parse(work["code"])
            if not is_pure(tree, work["context"]):
                answers.append({"ok": False, "why": "it is not pure"})
                continue
            names = {name: wrap(value) for name, value in work["context"].items()}
            names.update(memory=memory, emit_event=lambda *a, **k: None, print=lambda *a, **k: None)
            for name, value in (("re", re), ("datetime", Frozen), ("timedelta", datetime.timedelta), ("json", json)):
                names.setdefault(name, value)
            exec(compile(tree, "<block>", "exec"), names)
        answers.append({"ok": True, "files": memory.files, "fixes": memory.fixes})
    except BaseException as error:
        answers.append({"ok": False, "why": f"{type(error).__name__}: {error}"[:200]})
    finally:
        signal.alarm(0)
json.dump(answers, sys.stdout)
