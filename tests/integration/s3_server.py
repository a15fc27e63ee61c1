"""An S3-speaking server of its own process on loopback, behind a relay that can go away."""

import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SECRET = "loopback-secret-key"


class Relay:
    """Forwards a loopback port to another; while it is away nothing answers there, and while it
    is `hanging` what is sent is taken and never answered."""

    def __init__(self, target: int) -> None:
        self._target = target
        self.hanging = False
        self._open: list[socket.socket] = []
        self._listener = _listen(0)
        self.port: int = self._listener.getsockname()[1]
        self._serve()

    def leave(self) -> None:
        """Close the port and every connection."""
        # A blocked accept keeps the port open: wake it first.
        self._listener.shutdown(socket.SHUT_RDWR)
        for part in (self._listener, *self._open):
            part.close()
        self._open.clear()

    def come_back(self) -> None:
        self._listener = _listen(self.port)
        self._serve()

    def _serve(self) -> None:
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
                if self.hanging:
                    self._open.append(client)
                    continue
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                return
            self._open += [client, server]
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=_pump, args=(source, sink), daemon=True).start()


def _listen(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(64)
    return listener


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        for part in (source, sink):
            part.close()


@contextmanager
def s3_server(folder: Path) -> Iterator[tuple[Relay, dict[str, str]]]:
    """The relay in front of a running server, and the environment by which s3fs finds it."""
    port = _listen(0).getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with (folder / "s3.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env=_clean_environment())
    try:
        _wait_for(port, server)
        relay = Relay(port)
        address = f"http://127.0.0.1:{relay.port}"
        yield (
            relay,
            {
                "AWS_ENDPOINT_URL": address,
                "AWS_ACCESS_KEY_ID": "loopback",
                "AWS_SECRET_ACCESS_KEY": SECRET,
                "AWS_DEFAULT_REGION": "us-east-1",
                "NO_PROXY": "127.0.0.1",
                "no_proxy": "127.0.0.1",
            },
        )
        relay.leave()
    finally:
        server.terminate()
        server.wait(timeout=30)


@contextmanager
def bucket_on_s3(folder: Path, bucket: str) -> Iterator[Relay]:
    """The relay of a server with an empty bucket; this process's environment leads to it."""
    with s3_server(folder) as (relay, environment), pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        make_bucket(environment, bucket)
        yield relay


def make_bucket(environment: dict[str, str], name: str) -> None:
    """An empty bucket, made as any client would make it."""
    request = urllib.request.Request(f"{environment['AWS_ENDPOINT_URL']}/{name}", method="PUT")
    urllib.request.urlopen(request, timeout=30).close()


def _clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}


def _wait_for(port: int, server: "subprocess.Popen[bytes]") -> None:
    for _ in range(480):
        assert server.poll() is None, "the S3 server has ended"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=2).close()
            return
        except OSError:
            time.sleep(0.25)
    raise AssertionError("no answer from the S3 server")
