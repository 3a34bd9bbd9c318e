#!/bin/sh
# Pairs a program over HTTP, with curl and openssl alone:
# sh examples/pair-program.sh CODE
set -eu
url=${CALLBOARD_URL:-http://127.0.0.1:3000}
code=${1:?it must be the code of a pairing, which "callboard qr" prints}
file=${2:-device-token}
# What a person allows is this form of the tool: the program has to register the same.
schema='{"type": "object", "properties": {}, "additionalProperties": false}'
tool='{"name": "kernel.name", "description": "Names the kernel of this computer",
  "parameters": '$schema', "annotations": {"readOnlyHint": true}}'

# 256 random bits as base64url. A second run asks with the same token.
umask 077
[ -s "$file" ] || printf 'cb_device_%s' \
  "$(openssl rand -base64 32 | tr '+/' '-_' | tr -d '=\n')" >"$file"
# Of the token the server gets the hash alone, until the program connects.
hash=$(openssl dgst -sha256 -r "$file" | cut -c1-64)

# post WHAT: sends stdin; an error of the server goes to stderr.
post() {
  answer=$(curl -sS --fail-with-body --max-time 60 -H 'Content-Type: application/json' \
    -d @- "$url/api/pairing/$1") || { echo "$answer" >&2; return 1; }
  printf '%s\n' "$answer"
}

printf '{"code": "%s", "token_hash": "%s", "name": "%s", "kind": "program", "tools": [%s]}' \
  "$code" "$hash" "$(hostname)" "$tool" | post join >/dev/null
echo 'A person decides in the workbench, at Devices.' >&2
# The answer is held while it is "waiting"; one that is lost can be asked for again.
while :; do
  outcome=$(printf '{"token": "%s", "wait_ms": 20000}' "$(cat "$file")" | post outcome)
  case $outcome in
    *'"state":"waiting"'*) ;;
    *'"state":"approved"'*) break ;;
    *) echo "Not paired: $outcome" >&2 && exit 1 ;;
  esac
done
client=$(printf '%s' "$outcome" | sed 's/.*"client_id":"\([^"]*\)".*/\1/')
echo "CALLBOARD_CLIENT=$client CALLBOARD_TOKEN=\$(cat $file) sh examples/http-client.sh"
