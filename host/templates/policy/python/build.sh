#!/bin/sh
# Builds policy.wasm. The first time, it installs the pinned componentize-py into .venv.
set -eu
cd "$(dirname "$0")"
if [ ! -x .venv/bin/componentize-py ]; then
  python3 -m venv .venv
  .venv/bin/pip install --requirement requirements.txt
fi
# Without WASI: a policy is given no clock, files or randomness.
exec .venv/bin/componentize-py --wit-path wit --world check-policy componentize --stub-wasi policy --output policy.wasm
