"""What the end-to-end suites share: a served engine and requests to it. Standard library only."""
import collections
import http.client
import json
import re
import signal
import subprocess
import threading


class Server:
    """A server on any free port; leaving the block drains it by SIGTERM and wants exit code 0."""

    def __init__(self, camshaft, engine, *arguments):
        self.command = [camshaft, "serve", engine, "--port", "0", *arguments]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            found = re.search(r"http://[^:]+:(\d+)", line)
            if found:
                self.port = int(found.group(1))
                threading.Thread(target=collections.deque, args=(self.process.stderr, 0), daemon=True).start()  # so that the pipe never fills
                return self
        raise AssertionError("the server ended without serving")

    def __exit__(self, *unused):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=60) == 0, f"the server's exit code is {self.process.returncode}"

    def metric(self, name):
        """Value of a metric's first line, whatever its labels."""
        text = self.request("GET", "/metrics")[1]
        return float(re.search(rf"^{name}(?:\{{[^}}]*\}})? (\S+)$", text, re.M).group(1))

    def request(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        connection.request(method, path, data, {"Content-Type": "application/json", **(headers or {})})
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, text

    def post(self, path, body):
        status, text = self.request("POST", path, body)
        assert status == 200, f"{path}: {status} {text}"
        return json.loads(text)

    def stream(self, path, body):
        """Events of a streamed answer; the last must be [DONE]."""
        status, text = self.request("POST", path, body)
        assert status == 200, f"{path}: {status} {text}"
        events = [line[6:] for line in text.split("\n") if line.startswith("data: ")]
        assert events[-1] == "[DONE]", events[-1]
        return [json.loads(event) for event in events[:-1]]
