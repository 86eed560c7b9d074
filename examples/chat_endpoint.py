"""A language model behind an endpoint that speaks the OpenAI chat-completions protocol."""

from __future__ import annotations

import dataclasses
import json
import time
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Any

from oanquan_env.files import one_line, parse_json

PASSING = (408, 409, 425, 429, 500, 502, 503, 504, 529)
"""HTTP statuses after which the same request may succeed."""
MOST_BYTES = 1 << 22
"""Longest answer of an endpoint that is read."""


class EndpointError(ValueError):
    """An endpoint that does not answer as the protocol asks; says where and what to try."""


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: the key is for the host that was named."""

    def redirect_request(self, *_: Any) -> None:
        """See the base class."""


@dataclasses.dataclass(frozen=True)
class Endpoint:
    """A model behind `BASE_URL/chat/completions`.

    Attributes:
        base_url: without `/chat/completions`, such as `https://api.openai.com/v1`.
        model: the model's name there.
        key: sent as a bearer token if there is one.
        extra: more fields of a request, such as `{"temperature": 0}`.
        timeout: seconds that the endpoint may be silent.
        retries: times that a request is sent again.
        pause: seconds before the first of these times; then twice as many each time.
    """

    base_url: str
    model: str
    key: str = dataclasses.field(default="", repr=False)
    extra: dict[str, Any] = dataclasses.field(default_factory=dict)
    timeout: float = 120.0
    retries: int = 3
    pause: float = 2.0

    def __post_init__(self) -> None:
        if not self.base_url.startswith(("http://", "https://")):
            raise EndpointError(f"--base-url must begin with http:// or https://; got {self.base_url!r}")
        if not (self.key.isascii() and self.key.isprintable()):
            raise EndpointError("OPENAI_API_KEY has characters that no key has, such as a line's end")

    @property
    def url(self) -> str:
        """Where requests go."""
        return f"{self.base_url.rstrip('/')}/chat/completions"

    def ask(self, prompt: str) -> str:
        """The model's reply; raises `EndpointError`."""
        for attempt in range(self.retries + 1):
            if attempt:
                time.sleep(self.pause * 2 ** (attempt - 1))
            try:
                return self._reply(self._post(prompt))
            except urllib.error.HTTPError as error:
                with error:
                    said = one_line(error.read(MOST_BYTES).decode(errors="replace")) or error.reason
                problem = f"status {error.code}: {said}"
                if error.code not in PASSING:
                    break
            except TimeoutError:
                problem = f"no answer within {self.timeout:g} s; give it longer by --timeout"
            except urllib.error.URLError as error:
                slow = isinstance(error.reason, TimeoutError)
                problem = "no connection in time" if slow else f"no connection: {one_line(error.reason)}"
            except (HTTPException, OSError) as error:
                problem = f"the connection broke: {one_line(repr(error))}"
        tries = f" ({attempt + 1} tries)" if attempt else ""
        raise EndpointError(f"{self.url}{tries}: {problem}")

    def _post(self, prompt: str) -> bytes:
        content = {"model": self.model, "messages": [{"role": "user", "content": prompt}], **self.extra}
        headers = {"Content-Type": "application/json", "User-Agent": "oanquan"}
        headers |= {"Authorization": f"Bearer {self.key}"} if self.key else {}
        request = urllib.request.Request(self.url, json.dumps(content).encode(), headers)
        with urllib.request.build_opener(_Stay).open(request, timeout=self.timeout) as answer:
            found: bytes = answer.read(MOST_BYTES)
        return found

    def _reply(self, answer: bytes) -> str:
        try:
            reply = parse_json(answer.decode())["choices"][0]["message"]["content"]
        except (ValueError, LookupError, TypeError):
            shown = one_line(answer[:1000].decode(errors="replace"))
            raise EndpointError(f"{self.url}: not a chat completion: {shown!r}; is --base-url right?") from None
        return reply if isinstance(reply, str) else ""  # null where a model used all its tokens to think
