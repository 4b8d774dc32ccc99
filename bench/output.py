"""Ratios of 100 MB through one step; see output.sh. Wall and processor time, medians."""

import os
import pty
import resource
import statistics
import subprocess
import sys
import tempfile
import termios
import threading
import time

AYE, ROUNDS = sys.argv[1], int(sys.argv[2])
BYTES = 100_000_000
LINE = "2026-11-17T03:27:00Z INFO compiled crate number 4711 of 9000 in 1.25 s, 3 warnings"
FLOOD = f"yes '{LINE}' | head -c {BYTES}"
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}


def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def shell(script):
    subprocess.run(["sh", "-c", script], check=True, **QUIET)


def on_terminal(command):
    """Runs a command on a terminal of 80 by 24 that a reader empties as fast as it can."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 80))

    def read():
        try:
            while os.read(master, 65536):
                pass
        except OSError:
            pass

    reader = threading.Thread(target=read)
    reader.start()
    # Without a name it would get plain lines.
    named = {**os.environ, "TERM": "xterm-256color"}
    child = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, env=named)
    os.close(slave)
    assert child.wait() == 0, command
    reader.join()
    os.close(master)


def detached():
    subprocess.run([AYE, "run", "flood.yaml", "--detach"], check=True, **QUIET)
    while '"completed"' not in subprocess.check_output([AYE, "runs", "--json"], text=True).split("}")[0]:
        time.sleep(0.005)


def run(arguments):
    shell(f"{AYE} run flood.yaml {arguments} | cat > /dev/null")


KINDS = [
    ("bare pipeline", None, lambda: shell(f"{FLOOD} | cat > /dev/null")),
    # What it costs to keep a copy, without a seal: `-q` does that and more.
    ("with tee", None, lambda: shell(f"{FLOOD} | tee out | cat > /dev/null; rm out")),
    ("-q", 2.5, lambda: run("-q 2>&1")),
    ("detached", 2.5, detached),
    ("piped", 5, lambda: run("2>&1")),
    ("--json", 12, lambda: run("--json")),
    ("a terminal itself", None, lambda: on_terminal(["sh", "-c", FLOOD])),
    # Folded, the terminal gets the last lines a few times a second; whole, it gets all of it.
    ("folded", 1.5, lambda: on_terminal([AYE, "run", "flood.yaml"])),
    ("--output full", 1.5, lambda: on_terminal([AYE, "run", "flood.yaml", "--output", "full"])),
]


def main():
    with tempfile.TemporaryDirectory(prefix="aye-output-") as place:
        os.chdir(place)
        os.environ["AYE_HOME"] = os.path.join(place, "home")
        with open("flood.yaml", "w") as file:
            file.write(f'name: flood\nsteps:\n  - name: flood\n    shell: "{FLOOD}"\n')
        walls = {name: [] for name, _, _ in KINDS}
        cpus = {name: [] for name, _, _ in KINDS}
        for _ in range(ROUNDS):
            for name, _, measure in KINDS:
                before, cpu = time.monotonic(), used()
                measure()
                walls[name].append(time.monotonic() - before)
                cpus[name].append(used() - cpu)
    base = KINDS[0][0]
    print(f"{BYTES // 1_000_000} MB through one step, {ROUNDS} rounds: seconds, ratio, limit; processor time, ratio")
    for name, limit, _ in KINDS:
        if "terminal" in name and "itself" in name:
            base = name
        wall, cpu = statistics.median(walls[name]), statistics.median(cpus[name])
        ratio = wall / statistics.median(walls[base])
        cpu_ratio = cpu / statistics.median(cpus[base])
        shown = f"{limit:4}" if limit else "    "
        print(f"  {name:<18} {wall:6.2f} {ratio:6.2f} {shown}   {cpu:6.2f} {cpu_ratio:6.2f}")


main()
