"""A provider of OpenID Connect on loopback, with a key of its own: discovery, authorisation, tokens and public keys."""

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import uuid4

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, CLIENT_SECRET = "explorer", "a secret between the two"


@dataclass
class Provider:
    """Who logs in next, and what is wrong with the answer, if anything."""

    address: str
    account: dict[str, Any] = field(default_factory=dict)
    denies: bool = False  # the person presses "cancel"
    forges: bool = False  # tokens are signed by a key that is not the published one
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one"}))
    asked: dict[str, dict[str, str]] = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """The discovery document."""
        places = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
        return {
            "issuer": self.address,
            **{name: f"{self.address}/{place}" for name, place in places.items()},
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def authorise(self, query: dict[str, str]) -> str:
        """Where the browser goes next: back, with a code or with a refusal."""
        assert query["client_id"] == CLIENT
        if self.denies:
            answer = {"error": "access_denied"}
        else:
            answer = {"code": uuid4().hex}
            self.asked[answer["code"]] = query
        return f"{query['redirect_uri']}?{urlencode({**answer, 'state': query['state']})}"

    def give_token(self, form: dict[str, str], credentials: str) -> dict[str, Any]:
        """A signed statement on the account, for a code that is used once, by the client that asked for it."""
        assert base64.b64decode(credentials.removeprefix("Basic ")).decode() == f"{CLIENT}:{CLIENT_SECRET}"
        query = self.asked.pop(form["code"])
        assert form["redirect_uri"] == query["redirect_uri"]
        if "code_challenge" in query:
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == query["code_challenge"]
        now = int(time.time())
        claims = {"iss": self.address, "aud": CLIENT, "sub": "1", "iat": now, "exp": now + 300, **self.account}
        key = RSAKey.generate_key(2048) if self.forges else self.key
        statement = jwt.encode({"alg": "RS256", "kid": "one"}, {**claims, "nonce": query["nonce"]}, key)
        return {"access_token": uuid4().hex, "token_type": "Bearer", "expires_in": 300, "id_token": statement}


@contextmanager
def openid_provider() -> Iterator[Provider]:
    """Serve a provider until the end of the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.provider = Provider(f"http://127.0.0.1:{server.server_port}")  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.provider  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    @property
    def provider(self) -> Provider:
        return self.server.provider  # type: ignore[attr-defined,no-any-return]

    def do_GET(self) -> None:
        place = urlsplit(self.path)
        if place.path == "/authorize":
            self.send_response(302)
            self.send_header("Location", self.provider.authorise(dict(parse_qsl(place.query))))
            self.end_headers()
        elif place.path == "/keys":
            self._answer({"keys": [self.provider.key.as_dict(private=False)]})
        else:
            self._answer(self.provider.describe())

    def do_POST(self) -> None:
        form = dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        self._answer(self.provider.give_token(form, self.headers["Authorization"]))

    def _answer(self, document: Mapping[str, Any]) -> None:
        content = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass
