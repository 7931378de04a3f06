"""A server of S3 for the test: moto's, on a free port of this machine, with every bucket in memory.

One thread answers one request after the other: moto looks at a condition and then writes, which is one step only if
nothing comes in between. With `--lies N` every N-th write of a session is answered with an error, in turn after it took
effect and before: what a storage in trouble does, and clients repeat. Ends when its standard input does.
"""

import argparse
import itertools
import os
import sys
import threading

import waitress
from moto.moto_server.werkzeug_app import create_backend_app

TROUBLE = b"<Error><Code>InternalError</Code><Message>on purpose</Message></Error>"


class Lies:
    """Every N-th write of a session fails, after or before it took effect."""

    def __init__(self, app, every):
        self.app = app
        self.every = every
        self.writes = itertools.count(1)

    def __call__(self, environ, start_response):
        if environ["REQUEST_METHOD"] != "PUT" or "/sessions/" not in environ["PATH_INFO"]:
            return self.app(environ, start_response)
        turn, rest = divmod(next(self.writes), self.every)
        if rest:
            return self.app(environ, start_response)
        if turn % 2:
            # It takes effect, and nobody learns how it went.
            b"".join(self.app(environ, lambda *_: None))
        else:
            environ["wsgi.input"].read()
        start_response("500 Internal Server Error", [("Content-Type", "application/xml")])
        return [TROUBLE]


def end_with_input():
    """The process that started this one is gone, or wants it to end."""
    sys.stdin.buffer.read()
    os._exit(0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--lies", type=int, default=0)
    arguments = parser.parse_args()
    app = create_backend_app("s3")
    if arguments.lies:
        app = Lies(app, arguments.lies)
    threading.Thread(target=end_with_input, daemon=True).start()
    server = waitress.create_server(
        app, host="127.0.0.1", port=0, threads=arguments.threads, connection_limit=1000
    )
    print(server.effective_port, flush=True)
    server.run()


main()
