"""A tool by polling, with Python 3 and its standard library alone:
CALLBOARD_TOKEN=$(cat .callboard/token) python3 examples/http_client.py
"""

import http.client
import json
import os
import random
import signal
import sys
import time
import urllib.error
import urllib.request

URL = os.environ.get("CALLBOARD_URL", "http://127.0.0.1:3000")
TOKEN = os.environ.get("CALLBOARD_TOKEN", "")
CLIENT = os.environ.get("CALLBOARD_CLIENT", "words-py")


def count_words(args):
    return {"words": len(args["text"].split())}


TOOLS = {"words.count": count_words}
SPECS = [
    {
        "name": "words.count",
        "description": "Counts the words of a text",
        "schema": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
        },
        # It changes nothing, so the agent may call it without a person's yes.
        "annotations": {"readOnlyHint": True},
    }
]


class Refused(Exception):
    """The server's answer will be the same when it is asked again."""


class Unavailable(Exception):
    """There was no answer, or none yet."""


def ask(method, path, body=None):
    request = urllib.request.Request(
        URL + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code == 429 or error.code >= 500:
            raise Unavailable(str(error)) from error
        raise Refused(f"{error.code} {error.read().decode(errors='replace')}") from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise Unavailable(str(error)) from error


def insist(method, path, body):
    """Asks until there is an answer: a server that restarts is back soon."""
    pause = 1.0
    while True:
        try:
            return ask(method, path, body)
        except Unavailable as error:
            print(f"No answer from {URL} ({error}); again in {pause:.0f} s", file=sys.stderr)
            time.sleep(pause * random.uniform(0.5, 1))
            pause = min(pause * 2, 30)


def register():
    answer = insist("POST", "/internal/tools/register", {"client_id": CLIENT, "tools": SPECS})
    if answer["registered_count"] != len(SPECS):
        raise Refused(json.dumps(answer["rejected"]))


def run(request):
    try:
        result = TOOLS[request["name"]](request["args"])
        return {"status": "SUCCEEDED", "result": result}
    except Exception as error:  # Whatever a tool raises is the failure of its call.
        return {"status": "FAILED", "error": {"message": str(error) or repr(error)}}


def submit(request):
    try:
        # Until the server has it: what was fetched is asked of no other client.
        answer = insist("POST", f"/internal/tool_calls/{request['id']}/submit", run(request))
        print(request["id"], answer["status"], flush=True)
    except Refused as error:
        # Its time is over, or a person has ended it.
        print(request["id"], error, file=sys.stderr)


def poll():
    answer = ask("GET", f"/internal/clients/{CLIENT}/requests?wait_ms=20000")
    for request in answer["requests"]:
        submit(request)


def main():
    if not TOKEN:
        sys.exit("CALLBOARD_TOKEN must be the token of a person with the role operator or admin")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    while True:
        register()
        print(f"{', '.join(TOOLS)}: offered to {URL}", flush=True)
        try:
            while True:
                poll()
        except (Refused, Unavailable) as error:
            # It was silent for a minute, or the server restarts: it is not listed any more.
            print(f"Not polled ({error}); it registers again in 1 s", file=sys.stderr)
            time.sleep(1)


if __name__ == "__main__":
    try:
        main()
    except Refused as error:
        sys.exit(f"Refused: {error}")
