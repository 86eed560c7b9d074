"""A local server that speaks the chat-completions protocol, as an endpoint for tests of language models."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def served(answer: Callable[[str, int], tuple[Any, ...]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve the status and content that `answer(prompt, n)` returns for request n; yield the URL and what was sent.

    The latter has the headers of each request, and its content as `body`.

    The content is bytes, or is sent as JSON. A third value is the length in the header, if it is not the true one.
    """
    seen: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append({**self.headers, "body": request})
            status, content, *length = answer(request["messages"][0]["content"], len(seen))
            body = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(length[0] if length else len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1", seen
    server.shutdown()
    server.server_close()


def completion(text: Any, finish_reason: str = "stop") -> tuple[int, Any]:
    """Return the status and content of a complete reply."""
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
    choices = [{"index": 0, "message": message, "finish_reason": finish_reason}]
    head = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
    return 200, {**head, "choices": choices, "usage": usage}
