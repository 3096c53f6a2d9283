"""Access control of the studio: only the browser that opened its address, and no page of another origin.

The printed address contains a secret, which becomes a cookie. A request must have the cookie, name this host and port
(against DNS rebinding), and come from this origin according to the browser's headers. The page may load nothing from
elsewhere.
"""

import secrets
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",  # with "no-referrer", browsers do not send the origin of a form
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
ENTER = (
    "<!doctype html><html lang=en><title>nobounds studio</title>"
    '<meta http-equiv="refresh" content="0; url=/"><p><a href="/">Open the studio</a></p></html>'
)


class Guard:
    """Pass the requests of one browser on to an app, and refuse all others."""

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self._app, self._token = app, token
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._cookie = f"nobounds-studio-{port}"  # cookies are shared between ports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            raise RuntimeError("the studio speaks HTTP alone")

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        headers = Headers(scope=scope)
        if self._is_named(headers) and self._has_secret_in_address(scope):
            response = HTMLResponse(ENTER)  # a redirect would still count as the request of another page
            response.set_cookie(self._cookie, self._token, httponly=True, samesite="strict", path="/")
            await response(scope, receive, send_with_headers)
            return
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await PlainTextResponse(f"{refusal}\n", 403)(scope, receive, send_with_headers)
            return
        if not self._has_cookie(headers):
            sentence = "Open the studio by the address that it printed when it was started: it has a secret in it."
            await PlainTextResponse(f"{sentence}\n", 403)(scope, receive, send_with_headers)
            return
        await self._app(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope, headers: Headers) -> str | None:
        if not self._is_named(headers):
            return "The studio answers to 127.0.0.1 and its port alone."
        host, site, origin = (headers.get(name) for name in ("host", "sec-fetch-site", "origin"))
        if site not in (None, "same-origin", "none") or origin not in (None, f"http://{host}"):
            return "The studio refuses requests from other pages."
        if scope["method"] not in ("GET", "HEAD") and origin is None and site is None:
            return "The studio refuses requests that do not say which page they come from."
        return None

    def _is_named(self, headers: Headers) -> bool:
        return headers.get("host", "") in self._hosts

    def _has_secret_in_address(self, scope: Scope) -> bool:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return scope["method"] == "GET" and scope["path"] == "/" and self._is_secret(given)

    def _has_cookie(self, headers: Headers) -> bool:
        return self._is_secret(cookie_parser(headers.get("cookie", "")).get(self._cookie, ""))

    def _is_secret(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._token.encode())
