#!/usr/bin/env bash
# Runs judge.py: the judge of real programs denies an exact type where its own stack does.
exec python3 "$(dirname "${BASH_SOURCE[0]}")/judge.py"
