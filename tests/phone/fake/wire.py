# SPDX-License-Identifier: GPL-3.0-or-later
"""fastboot over TCP, the device's side: "FB01" both ways, then packets with a 64-bit big-endian length before each."""
import select
import socket
import struct


class Gone(Exception):
    """The other side has closed, or the power was cut."""


class PowerCut(Exception):
    pass


class Connection:
    def __init__(self, sock, wake):
        self.sock = sock
        self.wake = wake

    def _wait(self):
        ready, _, _ = select.select([self.sock, self.wake], [], [])
        if self.wake in ready:
            raise PowerCut()

    def _exactly(self, size):
        data = b""
        while len(data) < size:
            self._wait()
            try:
                block = self.sock.recv(min(size - len(data), 1 << 20))
            except OSError as failure:
                raise Gone() from failure
            if not block:
                raise Gone()
            data += block
        return data

    def handshake(self, answer=b"FB01"):
        if self._exactly(4)[:2] != b"FB":
            raise Gone()
        self._send(answer)

    def _send(self, data):
        try:
            self.sock.sendall(data)
        except OSError as failure:
            raise Gone() from failure

    def packet(self):
        size = struct.unpack(">Q", self._exactly(8))[0]
        return self._exactly(size)

    def download(self, size, stop_at=None):
        """`size` bytes in packets. With `stop_at` it stops reading there and returns what came."""
        data = b""
        while len(data) < size:
            left = struct.unpack(">Q", self._exactly(8))[0]
            while left:
                block = self._exactly(min(left, 65536))
                data += block
                left -= len(block)
                if stop_at is not None and len(data) >= stop_at:
                    return data
        return data

    def say(self, kind, words=""):
        data = (kind + words).encode()
        self._send(struct.pack(">Q", len(data)) + data)

    def until_closed(self):
        """Reads nothing more; returns when the other side has gone."""
        while True:
            hup = select.poll()
            hup.register(self.sock, select.POLLRDHUP | select.POLLHUP | select.POLLERR)
            hup.register(self.wake, select.POLLIN)
            for fd, _ in hup.poll():
                if fd == self.wake.fileno():
                    raise PowerCut()
                raise Gone()

    def close(self):
        self.sock.close()


class Server:
    """
    Listens on a port that stays reserved while nobody listens: a second socket is bound to it and never listens, so that a connection is
    refused, and no outgoing connection of another program is given the port (a client that tries again and again would in the end be
    connected with itself).
    """

    def __init__(self, port):
        self.holder = self._bound(port)
        self.port = self.holder.getsockname()[1]
        self.listener = None

    @staticmethod
    def _bound(port):
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        sock.bind(("127.0.0.1", port))
        return sock

    def open(self):
        if not self.listener:
            self.listener = self._bound(self.port)
            self.listener.listen(8)

    def close(self):
        if self.listener:
            self.listener.close()
            self.listener = None

    def accept(self, wake):
        ready, _, _ = select.select([self.listener, wake], [], [])
        if wake in ready:
            raise PowerCut()
        return Connection(self.listener.accept()[0], wake)
