# SPDX-License-Identifier: GPL-3.0-or-later
"""
The phone's Android, as far as adb sees it, and the socket by which the adb stand-in and the power supply reach the phone. The
device's shell is the host's, with /proc, /sys, /data and the like put below the phone's own root, and a few programs of Android
in front of the path; the agent that is pushed is replaced by the host-built one.
"""
import json
import os
import re
import select
import shutil
import socket
import subprocess
import threading
import time

import system
import wire

HERE = os.path.dirname(os.path.abspath(__file__))
PLACES = re.compile(r"(?<![\w./-])/(?=(proc|sys|data|dev/(?!null)|system|vendor|metadata)\b)")


class Android:
    def __init__(self, phone):
        self.phone = phone
        self.root = os.path.join(phone.dir, "root")
        self.state = "absent"
        self.is_root = False
        self.orders = []
        self.order_wake, self.order_waker = socket.socketpair()

    def run(self, running, root):
        """Up until it is told to reboot: returns what comes then."""
        self.is_root = False
        shutil.rmtree(os.path.join(root, "data"), ignore_errors=True)
        os.makedirs(os.path.join(root, "data/local/tmp"))
        system.put(root, "dev/props", "sys.boot_completed=1\nro.bootmode=normal\nro.boot.slot_suffix=_%s\n" % self.phone.current)
        system.put(root, "dev/memcg", running.memcg)
        self.state = "device"
        try:
            ready, _, _ = select.select([self.order_wake, self.phone.wake], [], [])
            if self.phone.wake in ready:
                raise wire.PowerCut()
            target = self.order_wake.recv(64).decode()
        finally:
            self.stop()
        self.phone.event("adb-reboot", target)
        return "fastboot" if target in ("bootloader", "fastboot") else "flashed"

    def stop(self):
        self.state = "absent"

    # --- one call of adb

    def call(self, words):
        """Standard output, standard error, exit status: what adb 29 prints."""
        faults = self.phone.faults
        faults.event("adb")
        command = words[0] if words else ""
        if faults.on("adb-hangs"):
            time.sleep(3600)
        state = self.state
        if state == "device":
            if faults.on("adb-absent"):
                state = "absent"
            elif faults.on("adb-offline"):
                state = "offline"
            elif faults.on("adb-unauthorized"):
                state = "unauthorized"
        if state == "absent":
            text = "device '%s' not found\n" % self.phone.serial
            if command in ("push", "pull"):
                return "adb: error: failed to get feature set: " + text, "", 1
            if command == "root":
                return "", "adb: unable to connect for root: " + text, 1
            return "", "error: " + text, 1
        if state == "offline":
            return "", "error: device offline\n", 1
        if state == "unauthorized":
            return "", "error: device unauthorized.\nThis adb server's $ADB_VENDOR_KEYS is not set\n", 1
        if command == "get-state":
            return state + "\n", "", 0
        handler = {"shell": self.shell, "root": self.restart_as_root, "push": self.push, "pull": self.pull,
                   "reboot": self.reboot}.get(command)
        return handler(words[1:]) if handler else ("", "adb: unknown command %s\n" % command, 1)

    def inside(self, path):
        return PLACES.sub(lambda _: self.root + "/", path)

    def shell(self, words):
        faults = self.phone.faults
        faults.event("adb-shell")
        while words and words[0] in ("-n", "-T", "-x"):
            words = words[1:]
        command = " ".join(words)
        self.phone.event("shell", command.replace("\n", "; "))
        env = dict(os.environ, PATH=os.path.join(HERE, "bin") + ":" + os.environ["PATH"], FAKE_ROOT=self.root,
                   FAKE_DIR=self.phone.dir, FAKE_UID="0" if self.is_root else "2000", FAKE_SU="" if faults.on("adb-no-root") else "yes",
                   FAKE_AGENT=self.phone.options.agent or "", FAKE_MODEL=self.phone.options.model or "", FAKE_HERE=HERE)
        done = subprocess.run(["sh", "-c", self.inside(command)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=env, cwd=self.root, check=False)
        out = done.stdout.decode("utf-8", "replace").replace(self.root + "/", "/")
        if faults.on("adb-status-lost"):
            # The connection broke before the end of the output; old devices always say 0.
            return out[:max(len(out) - 24, 0)], "", 0
        return out, done.stderr.decode("utf-8", "replace"), done.returncode

    def restart_as_root(self, _):
        faults = self.phone.faults
        faults.event("adb-root")
        if faults.on("adb-no-root") or faults.on("adb-production"):
            return "adbd cannot run as root in production builds\n", "", 0
        if self.is_root:
            return "adbd is already running as root\n", "", 0
        threading.Thread(target=self._restart, daemon=True).start()
        return "restarting adbd as root\n", "", 0

    def _restart(self):
        # For a moment the old adbd still answers, then nobody does.
        time.sleep(0.2)
        if self.state == "device":
            self.state = "absent"
            time.sleep(0.3)
            self.is_root = True
            self.state = "device"

    def push(self, words):
        self.phone.faults.event("adb-push")
        if self.phone.faults.on("adb-push-fails"):
            return "adb: error: failed to copy '%s' to '%s': remote No space left on device\n" % tuple(words[:2]), "", 1
        target = self.inside(words[1])
        try:
            with open(words[0], "rb") as file:
                data = file.read()
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if data[:4] == b"\x7fELF":
                shutil.copy(os.path.join(HERE, "agent-of-host"), target)
            else:
                with open(target, "wb") as file:
                    file.write(data)
        except OSError as failure:
            return "adb: error: %s\n" % failure, "", 1
        return "%s: 1 file pushed, 0 skipped.\n" % words[0], "", 0

    def pull(self, words):
        try:
            shutil.copyfile(self.inside(words[0]), words[1])
        except OSError:
            return "adb: error: failed to stat remote object '%s': No such file or directory\n" % words[0], "", 1
        return "%s: 1 file pulled, 0 skipped.\n" % words[0], "", 0

    def reboot(self, words):
        self.order_waker.send((words[0] if words else "system").encode())
        return "", "", 0


def answer(phone, request):
    if "power" in request:
        phone.press(request["power"])
        return "", "", 0
    if not phone.android:
        return "", "error: device '%s' not found\n" % phone.serial, 1
    return phone.android.call(request["adb"])


def serve(phone, path):
    """One JSON request a connection, one JSON answer: [standard output, standard error, exit status]."""
    if os.path.exists(path):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen(8)

    def one(client):
        with client, client.makefile("rw", encoding="utf-8") as stream:
            try:
                stream.write(json.dumps(answer(phone, json.loads(stream.readline()))) + "\n")
                stream.flush()
            except (BrokenPipeError, ConnectionResetError):
                pass

    while True:
        client, _ = listener.accept()
        threading.Thread(target=one, args=(client,), daemon=True).start()
