#!/bin/bash
# A stop hook as people write them with bash, jq, sed and perl: the other side of `cargo xtask bench hook`.
set -euo pipefail

event=$(cat)
state=.claude/ralph-loop.local.md
[[ -f $state ]] || exit 0

front=$(sed -n '/^---$/,/^---$/{ /^---$/d; p; }' "$state")
field() { sed -n "s/^$1: *//p" <<<"$front" | sed 's/^"\(.*\)"$/\1/'; }
iteration=$(field iteration)
most=$(field max_iterations)
promise=$(field completion_promise)
owner=$(field session_id)
session=$(jq -r '.session_id // ""' <<<"$event")
[[ -z $owner || $owner == "$session" ]] || exit 0

transcript=$(jq -r .transcript_path <<<"$event")
last=$(grep '"role":"assistant"' "$transcript" | tail -n 100)
message=$(jq -rs 'map(.message.content[]? | select(.type == "text") | .text) | last // ""' <<<"$last")
said=$(perl -0777 -ne 'print $1 if /<promise>(.*?)<\/promise>/s' <<<"$message" | perl -pe 's/^\s+|\s+$//g')

if [[ -n $promise && $said == "$promise" ]] || ((most > 0 && iteration >= most)); then
  rm "$state"
  exit 0
fi

next=$((iteration + 1))
prompt=$(awk '/^---$/ { n++; next } n >= 2' "$state")
sed "s/^iteration: .*/iteration: $next/" "$state" >"$state.new"
mv "$state.new" "$state"
jq -n --arg reason "$prompt" --arg note "iteration $next" '{ decision: "block", reason: $reason, systemMessage: $note }'
