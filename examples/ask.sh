#!/usr/bin/env bash
# Prompts for a shell script: the questions are on the terminal, the answers
# on standard output, and what became of it in the exit code.
#
#   0 answered or yes   1 no   5 cancelled with Esc   6 nobody can be asked
#   124 timed out without a default   130 interrupted
set -euo pipefail

environment=$(aye choose 'Where to?' stage production --title 'Deploy')
version=$(aye input 'Which version?' --match '^[0-9]+\.[0-9]+\.[0-9]+$')

if aye confirm "Deploy **$version** to **$environment**?" --timeout 1m --default no; then
    echo "deploying $version to $environment"
else
    # 1 is a no; anything else is a reason to stop altogether.
    code=$?
    [ "$code" -eq 1 ] || exit "$code"
    echo "nothing was deployed"
fi
