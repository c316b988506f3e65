"""Answers as `openclaw agent exec --json --message-file -` does."""

import json
import sys

message = sys.stdin.read()
session_id = sys.argv[sys.argv.index("--session-id") + 1]
payloads = [{"text": f"OpenClaw would answer: {message}", "mediaUrl": None}]
sys.stdout.write(json.dumps({"ok": True, "payloads": payloads, "sessionId": session_id}))
