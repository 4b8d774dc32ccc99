"""Measures `aye serve`; bench/serve.sh says how."""

import concurrent.futures
import http.client
import json
import os
import pty
import re
import select
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import time

AYE, WORK, ROUNDS = sys.argv[1], sys.argv[2], int(sys.argv[3])
ONLY = os.environ.get("ONLY", "fanout,lists,answers,withdraw").split(",")
CLIENTS = [int(count) for count in os.environ.get("CLIENTS", "1000 5000").split()]

GATE = """
name: gate
steps:
  - { name: sure, confirm: { message: 'Go?', timeout: 1h } }
"""
MANY = """
name: many
steps:
  - name: each
    foreach: "{{ range(20) | list }}"
    parallel: 20
    steps:
      - { name: sure, confirm: { message: 'Go {{ item }}?', timeout: 1h } }
"""
QUICK = """
name: quick
steps:
  - { name: one, shell: 'true' }
"""


def median(values):
    return statistics.median(values)


PLACES = []


class Place:
    """A home, a project and a server."""

    server = None

    def __init__(self, name):
        self.home, self.project = f"{WORK}/{name}/home", f"{WORK}/{name}/project"
        os.makedirs(f"{self.project}/skills")
        for skill, text in [("gate", GATE), ("many", MANY), ("quick", QUICK)]:
            with open(f"{self.project}/skills/{skill}.yaml", "w") as file:
                file.write(text)
        self.env = {"PATH": os.environ["PATH"], "HOME": WORK, "AYE_HOME": self.home, "LANG": "C.UTF-8"}
        self.aye("trust", "--yes")
        PLACES.append(self)

    def aye(self, *args, check=True):
        done = subprocess.run([AYE, *args], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        if check and done.returncode:
            raise SystemExit(f"aye {args}: {done.stderr}")
        return done.stdout

    def serve(self):
        self.server = subprocess.Popen([AYE, "serve", "--listen", "127.0.0.1:0", "--json"], cwd=self.project,
                                       env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.port = int(json.loads(self.server.stdout.readline())["url"].rsplit(":", 1)[1])
        with open(f"{self.home}/serve.json") as file:
            self.token = json.load(file)["token"]

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def get(self, path, connection=None):
        connection = connection or self.connect()
        connection.request("GET", f"/api/v1{path}", headers={"Authorization": f"Bearer {self.token}"})
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path}: {body}")
        return json.loads(body)

    def post(self, path, body, key, connection=None):
        connection = connection or self.connect()
        connection.request("POST", f"/api/v1{path}", json.dumps(body), {
            "Authorization": f"Bearer {self.token}", "Content-Type": "application/json", "Idempotency-Key": key})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def answer(self, question, choice, connection=None):
        path = f"/questions/{question['question']}/answer"
        body = {"choice": choice, "digest": question["digest"]}
        return self.post(path, body, question["question"], connection)

    def questions(self, count):
        """So many open questions, once they are there."""
        while True:
            found, after = [], 0
            while True:
                page = self.get(f"/questions?limit=500&after={after}")
                found += page["questions"]
                after = page["next"]
                if after is None:
                    break
            if len(found) >= count:
                return found
            time.sleep(0.2)

    def memory(self):
        with open(f"/proc/{self.server.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) * 1024

    def socket(self):
        """A client of the socket, after its snapshot."""
        stream = socket.create_connection(("127.0.0.1", self.port))
        stream.sendall((f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nConnection: Upgrade\r\n"
                        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                        f"Authorization: Bearer {self.token}\r\n\r\n").encode())
        heard(stream, b'"type":"snapshot"')
        return stream

    def end(self):
        if self.server is None:
            return
        self.server.kill()
        self.server.wait()
        self.server = None
        for status in ("running", "waiting"):
            for run in json.loads(self.aye("runs", "--json", "--status", status, "--limit", "200", check=False) or "[]"):
                if run["driven"]:
                    self.aye("cancel", run["run"], check=False)


def heard(stream, mark):
    """Reads until this is there; when it was."""
    text = b""
    while mark not in text:
        more = stream.recv(65536)
        if not more:
            raise SystemExit("the server closed a socket")
        text = text[-len(mark):] + more
    return time.perf_counter()


def send(stream, message):
    """One message of a client, of at least 126 bytes."""
    text = json.dumps(message).encode().ljust(126)
    stream.sendall(bytes([0x81, 0xFE]) + len(text).to_bytes(2, "big") + bytes(4) + text)


class Fanout:
    def __init__(self, *args):
        self.process = subprocess.Popen([f"{WORK}/bin/fanout", *map(str, args)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def hears(self):
        said = self.process.stdout.readline()
        if not said:
            raise SystemExit("clients ended")
        return said.strip()

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self):
        self.process.kill()
        self.process.wait()


def fanout():
    place = Place("fanout")
    place.serve()
    for count in CLIENTS:
        for _ in range(ROUNDS):
            place.aye("run", "gate", "--detach")
        open_questions = place.questions(ROUNDS)
        # What the server needs once, before the first client.
        warm = Fanout("clients", place.port, 100, place.token)
        assert warm.hears() == "ready"
        warm.end()
        before = place.memory()
        clients = Fanout("clients", place.port, count, place.token)
        assert clients.hears() == "ready"
        cost = (place.memory() - before) / count
        raw_server = Fanout("serve", 700)
        raw = Fanout("clients", int(raw_server.hears()), count)
        assert raw.hears() == "ready"
        ours, theirs = [], []
        for number, question in enumerate(open_questions[:ROUNDS]):
            raw_server.go()
            theirs.append(int(raw.hears()) / 1000)
            status, told = place.answer(question, "cancel")
            assert status == 200, told
            ours.append(int(clients.hears()) / 1000)
            if number + 1 < ROUNDS:
                raw.go()
                clients.go()
        for one in (clients, raw, raw_server):
            one.end()
        ratio = median(ours) / median(theirs)
        print(f"{count} clients: first to last {median(ours):.1f} ms, raw TCP {median(theirs):.1f} ms: "
              f"{ratio:.2f}x (goal 1.2x); {cost / 1000:.1f} kB a client (goal 8 kB)", flush=True)
    place.end()


def copies(place, run, count, whole):
    """Rows of runs that are like this one; with their events and questions if `whole`."""
    db = sqlite3.connect(f"{place.home}/journal.db")
    columns = {table: [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
               for table in ("runs", "events", "questions")}
    def rows(table, key):
        found = db.execute(f"SELECT * FROM {table} WHERE {key} = ? ORDER BY 1", [run]).fetchall()
        return [dict(zip(columns[table], row)) for row in found]
    def insert(table, row):
        names = columns[table]
        db.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(names))})", [row[name] for name in names])
    [first], events, asked = rows("runs", "id"), rows("events", "run"), rows("questions", "run")
    n = db.execute("SELECT max(id) FROM events").fetchone()[0]
    digits = "0123456789abcdefghjkmnpqrstvwxyz"
    for number in range(count):
        name = "".join(digits[(number >> (5 * at)) & 31] for at in range(4)) + run[4:]
        if name == run:
            continue
        numbers = {}
        for event in events:
            n += 1
            numbers[event["id"]] = n
            if whole:
                insert("events", {**event, "id": n, "run": name, "body": event["body"].replace(run, name)})
        insert("runs", {**first, "n": numbers[first["n"]], "id": name})
        for question in asked if whole else []:
            insert("questions", {**question, "n": numbers[question["n"]], "run": name,
                                 "id": question["id"].replace(run, name)})
    if not whole:
        # The journal is as long as its runs say.
        insert("events", {**events[-1], "id": n + 1, "seq": 10_000})
    db.commit()
    db.close()


def timed(place, path, connection):
    began = time.perf_counter()
    place.get(path, connection)
    return (time.perf_counter() - began) * 1000


def compared(what, few, many, path, goal):
    times = {one: [] for one in (few, many)}
    connections = {one: one.connect() for one in (few, many)}
    for number in range(ROUNDS * 5 + 2):
        for one in (few, many):
            took = timed(one, path, connections[one])
            if number >= 2:
                times[one].append(took)
    ratio = median(times[many]) / median(times[few])
    print(f"{what}: {median(times[few]):.2f} ms, {median(times[many]):.2f} ms: {ratio:.2f}x (goal {goal}x)", flush=True)


def snapshots(what, few, many):
    times = {one: [] for one in (few, many)}
    for number in range(ROUNDS + 1):
        for one in (few, many):
            began = time.perf_counter()
            stream = one.socket()
            if number:
                times[one].append((time.perf_counter() - began) * 1000)
            stream.close()
    ratio = median(times[many]) / median(times[few])
    print(f"{what}: {median(times[few]):.2f} ms, {median(times[many]):.2f} ms: {ratio:.2f}x", flush=True)


def commands(what, few, many, *args):
    times = {one: [] for one in (few, many)}
    for number in range(ROUNDS + 1):
        for one in (few, many):
            began = time.perf_counter()
            one.aye(*args)
            if number:
                times[one].append((time.perf_counter() - began) * 1000)
    ratio = median(times[many]) / median(times[few])
    print(f"{what}: {median(times[few]):.2f} ms, {median(times[many]):.2f} ms: {ratio:.2f}x (goal 1.5x)", flush=True)


def lists():
    pair = []
    for count in (100, 10_000):
        place = Place(f"questions-{count}")
        place.aye("run", "gate", "--no-input", check=False)
        run = json.loads(place.aye("runs", "--json"))[0]["run"]
        copies(place, run, count - 1, True)
        place.serve()
        assert place.get("/questions")["open"] == count, place.get("/questions")["open"]
        pair.append(place)
    compared("100 and 10,000 open questions, a page of them", *pair, "/questions", 1.5)
    snapshots("100 and 10,000 open questions, a socket until its snapshot", *pair)
    for place in pair:
        place.server.kill()
    pair = []
    for count in (100, 100_000):
        place = Place(f"runs-{count}")
        place.aye("run", "quick", "-q")
        run = json.loads(place.aye("runs", "--json"))[0]["run"]
        copies(place, run, count, False)
        place.serve()
        pair.append(place)
    compared("100 and 100,000 runs, the first page", *pair, "/runs", 1.5)
    compared("100 and 100,000 runs, those that completed", *pair, "/runs?status=completed", 1.5)
    snapshots("100 and 100,000 runs, a socket until its snapshot", *pair)
    commands("100 and 100,000 runs, `aye runs`", *pair, "runs")
    page(pair)
    for place in pair:
        place.server.kill()


def page(pair):
    """The same in a browser, if the tests have installed what that needs."""
    packages = "target/mcp-servers/page"
    if not os.path.isdir(packages):
        return print("the page: not measured, `./test` installs what it needs")
    links = [json.loads(place.aye("people", "add", "ann", "--rights", "read", "--json"))["link"] for place in pair]
    told = subprocess.run(["node", "bench/serve/page.mjs", packages, str(ROUNDS), *links], capture_output=True, text=True)
    if told.returncode:
        raise SystemExit(told.stderr)
    few, many = map(float, told.stdout.split())
    print(f"100 and 100,000 runs, the page of runs in a browser: {few:.0f} ms, {many:.0f} ms: {many / few:.2f}x (goal 1.5x)", flush=True)


def answers():
    place = Place("answers")
    place.serve()
    runs = int(os.environ.get("RUNS", "100"))
    for _ in range(runs):
        place.aye("run", "many", "--detach")
    questions = place.questions(runs * 20)
    driven = sum(run["driven"] for run in place.get("/runs?limit=1000")["runs"])
    connections = [place.connect() for _ in range(32)]
    def some(number):
        mine = questions[number::len(connections)]
        return [place.answer(question, "proceed", connections[number]) for question in mine]
    began = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(len(connections)) as pool:
        results = [result for part in pool.map(some, range(len(connections))) for result in part]
    took = time.perf_counter() - began
    taken = sum(status == 200 for status, _ in results)
    for status, body in results:
        if status != 200:
            print(f"an answer was not taken: {status} {body}", flush=True)
    while any(run["status"] in ("running", "waiting") for run in place.get("/runs?limit=1000")["runs"]):
        time.sleep(0.5)
    completed = sum(run["status"] == "completed" for run in place.get("/runs?limit=1000")["runs"])
    print(f"{driven} runs are driven: {len(questions) / took:.0f} answers a second (goal 200); "
          f"{taken} of {len(questions)} taken, {completed} of {runs} runs completed", flush=True)
    place.end()


def asked_at_a_terminal(place):
    """A run whose question is drawn at a terminal, and a socket that has heard of it."""
    stream = place.socket()
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(place.project)
        os.execve(AYE, [AYE, "run", "gate"], {**place.env, "TERM": "xterm"})
    shown = b""
    while b"[y/N]" not in shown and b"Cancel" not in shown:
        shown += os.read(terminal, 4096)
    heard(stream, b'"type":"confirmation_required"')
    # A key this soon after the question was drawn is not taken.
    time.sleep(1.5)
    return stream, child, terminal


def withdraw():
    place = Place("withdraw")
    place.serve()
    there, back = [], []
    for _ in range(ROUNDS):
        stream, child, terminal = asked_at_a_terminal(place)
        os.write(terminal, b"n")
        began = time.perf_counter()
        there.append((heard(stream, b'"type":"confirmation_answered"') - began) * 1000)
        stream.close()
        os.waitpid(child, 0)
        os.close(terminal)
        # The other way round: until the terminal says that the question is answered.
        stream, child, terminal = asked_at_a_terminal(place)
        [question] = place.get("/questions")["questions"]
        while select.select([terminal], [], [], 0)[0]:
            os.read(terminal, 65536)
        message = {"id": 1, "type": "answer", "question": question["question"], "digest": question["digest"], "choice": "cancel"}
        began = time.perf_counter()
        send(stream, message)
        shown = b""
        while "●".encode() not in shown:
            shown += os.read(terminal, 4096)
        back.append((time.perf_counter() - began) * 1000)
        stream.close()
        os.waitpid(child, 0)
        os.close(terminal)
    for what, times in [("an answer at a terminal is on the socket", there), ("an answer on the socket is at the terminal", back)]:
        print(f"{what} after {median(times):.1f} ms, at most {max(times):.1f} ms (goal 50 ms)", flush=True)
    place.end()


# Whatever happens, no server and no run is left.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
try:
    for name in ONLY:
        {"fanout": fanout, "lists": lists, "answers": answers, "withdraw": withdraw}[name]()
finally:
    for place in PLACES:
        place.end()
