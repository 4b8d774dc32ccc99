#!/usr/bin/env bash
# What verifying costs: builds of Aye against each other, interleaved, medians, ratios to the first.
#   bench/record.sh BEFORE AFTER...
# - resume: a paused run of 1,000 steps, and one with 200 inner runs, is taken up and pauses again
#   (its chain is verified first)
# - gate: one step behind a question that is answered in advance, and one whose answer is recorded
# - audit: the whole journal
set -euo pipefail
[ $# -ge 1 ] || { sed -n 2,7p "$0"; exit 2; }
rounds=${ROUNDS:-31}
binaries=()
for path in "$@"; do binaries+=("$(realpath "$path")"); done
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/work" && cd "$place/work"
{
  echo 'name: long'; echo 'step_limit: 100000'; echo 'steps:'
  for n in $(seq 1000); do echo "- {name: s$n, command: /bin/true}"; done
  echo "- {name: go, confirm: {message: 'Go?', timeout: 0}}"
} > long.yaml
cat > items.yaml <<'Y'
name: items
steps:
- name: each
  foreach: "{{ range(200) | list }}"
  steps:
  - {name: a, command: /bin/true}
- {name: go, confirm: {message: 'Go?', timeout: 0}}
Y
cat > inside.yaml <<'Y'
name: inside
steps:
- name: each
  foreach: "{{ range(200) | list }}"
  steps:
  - {name: a, command: /bin/true}
  - {name: go, confirm: {message: 'Go?', timeout: 0}, condition: item == 199}
Y
printf 'name: gate\nsteps:\n- {name: a, command: /bin/true, confirmation: {message: "Go?"}}\n' > gate.yaml
printf 'name: plain\nsteps:\n- {name: a, command: /bin/true}\n' > plain.yaml

aye() { # number of the binary, arguments
  local number=$1; shift
  AYE_HOME="$place/home-$number" "${binaries[$number]}" "$@" </dev/null >/dev/null 2>&1
}

declare -A run
for number in "${!binaries[@]}"; do
  for skill in long items inside; do
    aye "$number" run "$skill.yaml" --no-input || [ $? -eq 6 ]
    run[$number,$skill]=$(AYE_HOME="$place/home-$number" "${binaries[$number]}" runs --json \
      | sed -nE 's/.*"(run|id)": *"([^"]*)".*/\2/p' | head -1)
  done
done

# name, expected exit code, arguments (RUN:skill stands for the run of that skill)
measure() {
  local name=$1 code=$2; shift 2
  local number words word start end
  for number in "${!binaries[@]}"; do : > "$place/times-$number"; done
  for _ in $(seq "$rounds"); do
    for number in "${!binaries[@]}"; do
      words=()
      for word in "$@"; do
        case $word in RUN:*) words+=("${run[$number,${word#RUN:}]}");; *) words+=("$word");; esac
      done
      start=${EPOCHREALTIME/./}
      aye "$number" "${words[@]}" || [ $? -eq "$code" ] || { echo "${words[*]} failed" >&2; exit 1; }
      end=${EPOCHREALTIME/./}
      echo $((end - start)) >> "$place/times-$number"
    done
  done
  echo "$name, $rounds rounds, medians"
  local first='' median
  for number in "${!binaries[@]}"; do
    median=$(sort -n "$place/times-$number" | sed -n "$((rounds / 2 + 1))p")
    first=${first:-$median}
    awk -v b="${binaries[$number]}" -v m="$median" -v f="$first" \
      'BEGIN { printf "  %-40s %9.3f ms %6.3f x\n", b, m / 1000, m / f }'
  done
}

measure 'start-up (--version)' 0 --version
measure 'one step without a gate' 0 run plain.yaml -q
measure 'one step behind a gate, --yes' 0 run gate.yaml -q --yes
measure 'one step behind a gate, pauses there' 6 run gate.yaml -q --no-input
measure 'resume after 1,000 steps' 6 resume RUN:long --no-input -q
measure 'resume after 200 inner runs' 6 resume RUN:items --no-input -q
measure 'resume inside 200 inner runs' 6 resume RUN:inside --no-input -q
measure 'audit of the journal' 0 audit
