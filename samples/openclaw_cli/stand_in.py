"""Answers as `openclaw agent --local --json --message-file /dev/stdin` does."""

import json
import sys

message = sys.stdin.read()
session_id = sys.argv[sys.argv.index("--session-id") + 1]
payloads = [{"text": f"OpenClaw would answer: {message}", "mediaUrl": None}]
sys.stdout.write(json.dumps({"payloads": payloads, "meta": {"sessionId": session_id}}))
