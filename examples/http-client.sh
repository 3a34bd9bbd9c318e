#!/bin/sh
# A tool by polling, with curl and a POSIX shell alone:
# CALLBOARD_TOKEN=$(cat .callboard/token) sh examples/http-client.sh
set -u
url=${CALLBOARD_URL:-http://127.0.0.1:3000}
client=${CALLBOARD_CLIENT:-kernel-sh}
: "${CALLBOARD_TOKEN:?it must be the token of a person with the role operator or admin}"
schema='{"type": "object", "properties": {}, "additionalProperties": false}'
# It changes nothing, so the agent may call it without a person's yes.
tool='{"name": "kernel.name", "description": "Names the kernel of this computer",
  "schema": '$schema', "annotations": {"readOnlyHint": true}}'

folder=$(mktemp -d) || exit 1
running=
stop() {
  [ -z "$running" ] || kill "$running" 2>/dev/null
  exit 0
}
trap 'rm -rf "$folder"' EXIT
trap stop INT TERM
# In a file that is ours alone: other users see the arguments of a program.
printf 'header = "Authorization: Bearer %s"\n' "$CALLBOARD_TOKEN" >"$folder/token"

# A signal ends the wait, and would not end what is waited for.
run() { "$@" & running=$!; wait "$running"; running=; }

# ask METHOD PATH [BODY]: sets status, 000 without an answer; the answer is in a file.
ask() {
  run curl -s --max-time 60 -K "$folder/token" -H 'Content-Type: application/json' \
    -o "$folder/answer" -w '%{http_code}' -X "$1" ${3:+-d "$3"} "$url$2" >"$folder/status"
  status=$(cat "$folder/status")
}

pause=1
later() {
  echo "No answer from $url ($status); again in $pause s" >&2
  run sleep "$pause"
  pause=$((pause * 2))
  [ "$pause" -le 30 ] || pause=30
}

register() {
  while :; do
    ask POST /internal/tools/register "{\"client_id\": \"$client\", \"tools\": [$tool]}"
    case $status in
      200) grep -q '"registered_count":1' "$folder/answer" && pause=1 && return ;;
      000 | 429 | 5??) later && continue ;;
    esac
    echo "Not registered ($status): $(cat "$folder/answer")" >&2
    exit 1
  done
}

json_text() { printf '%s' "$1" | tr '\n\t' '  ' | sed 's/[\\"]/\\&/g; s/^/"/; s/$/"/'; }

# Sent until the server has it: what was fetched is asked of no other client.
answer() {
  if name=$(uname -srm); then
    body="{\"status\": \"SUCCEEDED\", \"result\": $(json_text "$name")}"
  else
    body='{"status": "FAILED", "error": {"message": "uname failed"}}'
  fi
  while :; do
    ask POST "/internal/tool_calls/$1/submit" "$body"
    case $status in
      000 | 429 | 5??) later ;;
      *) echo "$1: $status" && pause=1 && return ;;
    esac
  done
}

register
echo "kernel.name is offered to $url"
while :; do
  ask GET "/internal/clients/$client/requests?wait_ms=20000"
  if [ "$status" != 200 ]; then
    later
    register
    continue
  fi
  for id in $(tr '{,' '\n\n' <"$folder/answer" | sed -n 's/^"id":"\(tc_[A-Za-z0-9_-]*\)"$/\1/p'); do
    answer "$id"
  done
done
