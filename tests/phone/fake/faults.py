# SPDX-License-Identifier: GPL-3.0-or-later
"""What the phone can be told to do wrong. The table of tests/phone/README.md says what the right verdict is."""

# Name: the event that is counted for NAME@N.
FAULTS = {
    # the connection
    "refuse": "connect", "no-handshake": "connect", "bad-handshake": "connect", "silent": "command", "close": "command",
    "garbage": "command", "info": "command",
    # a transfer
    "download-refused": "download", "stall-data": "download", "close-data": "download",
    # what it tells of itself
    "getvar-fails": "getvar", "empty-unknown": "getvar", "wrong-product": "getvar", "locked": "getvar", "merging": "getvar",
    "battery-low": "getvar", "fastbootd": "getvar", "size-bare": "getvar", "size-decimal": "getvar", "size-absent": "getvar",
    "small-partition": "getvar", "max-absent": "getvar", "max-decimal": "getvar", "max-small": "getvar", "slot-underscore": "getvar",
    "no-current-slot": "getvar", "counter-low": "getvar", "slot-unbootable": "getvar",
    # commands that do something else than they say
    "no-boot-command": "start", "stay": "start", "old-kernel": "start", "lingers": "start", "flash-fails": "flash",
    "flash-lies": "flash", "set-active-lies": "set-active", "set-active-refused": "set-active",
    # the kernel
    "lose-slot": "boot", "panic": "boot", "crash": "boot", "hang": "boot", "power-off": "boot", "same-boot-id": "boot",
    "cmdline-ignored": "boot", "cmdline-cut": "boot", "memcg-on": "boot", "memcg-off": "boot", "other-build": "boot",
    "lost-records": "boot", "early-back": "boot",
    # after it
    "other-serial": "back", "other-product": "back", "slow-back": "back", "never-back": "back",
    # Android
    "adb-absent": "adb", "adb-offline": "adb", "adb-unauthorized": "adb", "adb-status-lost": "adb-shell", "adb-no-root": "adb-root", "adb-production": "adb-root",
    "adb-hangs": "adb", "adb-push-fails": "adb-push",
}


class Faults:
    """NAME: always. NAME@N: only the Nth event of its kind, from 1. NAME@N+: from that one on."""

    def __init__(self, wanted):
        self.wanted = {}
        self.counts = {}
        self.last = None
        for word in wanted:
            name, _, place = word.partition("@")
            if name not in FAULTS:
                raise SystemExit("no fault '%s'; there are: %s" % (name, ", ".join(sorted(FAULTS))))
            first = int(place.rstrip("+") or "1")
            self.wanted[name] = (first, None if not place or place.endswith("+") else first)

    def event(self, kind):
        """Counts an event."""
        self.counts[kind] = self.counts.get(kind, 0) + 1

    def on(self, name):
        """Whether the fault holds at the event that was counted last."""
        if name not in self.wanted:
            return False
        first, last = self.wanted[name]
        count = max(self.counts.get(FAULTS[name], 0), 1)
        return count >= first and (last is None or count <= last)
