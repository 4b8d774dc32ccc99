"""Many runs at once: durable steps a second, and what they wait for."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

STEPS = 100


def skill():
    steps = "".join(f"  - {{ name: s{n}, command: 'true' }}\n" for n in range(STEPS))
    return f"name: many\nsteps:\n{steps}"


def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime, usage.ru_stime, usage.ru_nvcsw + usage.ru_nivcsw


def measure(aye, runs, durability):
    """Steps a second of so many runs at once, processor time and switches a step."""
    place = tempfile.mkdtemp(prefix="aye-many-")
    try:
        with open(os.path.join(place, "many.yaml"), "w") as file:
            file.write(skill())
        home = os.path.join(place, "home")
        os.mkdir(home, 0o700)
        config = os.path.join(place, "config", "aye")
        os.makedirs(config, 0o700)
        with open(os.path.join(config, "config.toml"), "w") as file:
            file.write(f"[journal]\ndurability = '{durability}'\n")
        environment = {**os.environ, "AYE_HOME": home, "XDG_CONFIG_HOME": os.path.dirname(config)}
        command = [aye, "run", "many.yaml", "-q"]
        subprocess.run(command, cwd=place, env=environment, check=True)
        before, began = used(), time.monotonic()
        children = [subprocess.Popen(command, cwd=place, env=environment) for _ in range(runs)]
        codes = [child.wait() for child in children]
        took, after = time.monotonic() - began, used()
        assert set(codes) == {0}, codes
    finally:
        shutil.rmtree(place)
    steps = runs * STEPS
    user, system, switches = (b - a for a, b in zip(before, after))
    return steps / took, 1e6 * user / steps, 1e6 * system / steps, switches / steps, (user + system) / took


def bare(loops):
    """Starts of `true` a second by so many loops that do nothing else, and processor time a start."""
    loop = "import os\nfor _ in range(500): os.waitpid(os.posix_spawn('/usr/bin/true', ['true'], {}), 0)"
    before, began = used(), time.monotonic()
    children = [subprocess.Popen([sys.executable, "-S", "-c", loop]) for _ in range(loops)]
    codes = [child.wait() for child in children]
    took, after = time.monotonic() - began, used()
    assert set(codes) == {0}, codes
    user, system, switches = (b - a for a, b in zip(before, after))
    starts = 500 * loops
    return starts / took, 1e6 * user / starts, 1e6 * system / starts, switches / starts, (user + system) / took


def row(runs, what, figures):
    per_second, user, system, switches, busy = figures
    print(f"{runs:4}  {what:10}  {per_second:7.0f}  {user:12.0f}  {system:14.0f}  {switches:13.1f}  {busy:10.2f}", flush=True)


def main():
    aye, rounds = sys.argv[1], int(sys.argv[2])
    counts = [int(text) for text in sys.argv[3:]] or [1, 2, 10, 50]
    print(f"{os.cpu_count()} cores, {STEPS} steps a run, best of {rounds}")
    print("runs  durability  steps/s  us user/step  us system/step  switches/step  cores busy")
    # What the machine gives when nothing but processes is started.
    for loops in [1, os.cpu_count(), 50]:
        row(loops, "bare", max(bare(loops) for _ in range(rounds)))
    for durability in ["power", "process"]:
        for runs in counts:
            row(runs, durability, max(measure(aye, runs, durability) for _ in range(rounds)))


main()
