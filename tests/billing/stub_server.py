"""
A server on the loopback that answers what a test wants, or loses the answer.
"""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl


class Stub:
    """
    Answers with `answers`, in order, the last one for ever; keeps what it was asked.
    """

    def __init__(self, url):
        self.url = url
        self.asked = []
        self.answers = [(200, {})]

    def next_answer(self):
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def stub_server():
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            stub.asked.append(
                (self.path, dict(self.headers), dict(parse_qsl(body.decode())))
            )
            status, content = stub.next_answer()
            if status is None:
                # Done, but the answer is lost on the way.
                self.close_connection = True
                return
            is_raw = isinstance(content, bytes)
            answer = content if is_raw else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def do_GET(self):
            self.do_POST()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stub = Stub(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
