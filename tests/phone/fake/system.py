# SPDX-License-Identifier: GPL-3.0-or-later
"""
What the phone runs: a made-up root (proc, sys) for the kernel in a boot image, in which the host-built agent runs for real with the
settings of the image's ramdisk. As the sim device does it: counter=model, and the model's numbers by the memory controller's real state.
"""
import os
import struct
import subprocess
import uuid

OLD_BOOT_ID = "11111111-2222-4333-8444-555555555555"


def disables_memory(cmdline):
    words = cmdline.split(" -- ")[0].split()
    return any(w.startswith("cgroup_disable=") and "memory" in w.split("=", 1)[1].strip('"').split(",") for w in words)


class Running:
    """A booted kernel."""

    def __init__(self, image, cmdline, faults):
        self.image = image
        self.has_memcg = image.has_memcg()
        self.build_id = image.build_id() or "00" * 20
        if faults.on("other-build"):
            self.build_id = "ee" * 20
        if faults.on("cmdline-ignored"):
            cmdline = "console=ttynull"
        if faults.on("cmdline-cut"):
            cmdline = cmdline[:max(len(cmdline) - 8, 0)]
        self.cmdline = cmdline
        disabled = disables_memory(cmdline)
        if faults.on("memcg-on"):
            disabled = False
        if faults.on("memcg-off"):
            disabled = True
        self.memcg = "none" if not self.has_memcg else "disabled" if disabled else "on"
        self.boot_id = OLD_BOOT_ID if faults.on("same-boot-id") else str(uuid.uuid4())


def put(root, path, data):
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def make_root(root, running):
    note = struct.pack("<III", 4, 20, 3) + b"GNU\0" + bytes.fromhex(running.build_id)
    put(root, "sys/kernel/notes", note)
    put(root, "proc/cmdline", running.cmdline + "\n")
    put(root, "proc/sys/kernel/random/boot_id", running.boot_id + "\n")
    put(root, "proc/sys/kernel/osrelease", running.image.release() + "\n")
    put(root, "proc/version", "Linux version %s\n" % running.image.release())
    put(root, "proc/meminfo", "MemTotal:        8000000 kB\nMemFree:         6000000 kB\nMemAvailable:    7000000 kB\n")
    put(root, "proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n")
    put(root, "sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n")
    put(root, "sys/devices/system/cpu/online", "0-7\n")
    cgroups = "#subsys_name\thierarchy\tnum_cgroups\tenabled\nblkio\t0\t1\t1\n"
    if running.memcg != "none":
        cgroups += "memory\t0\t1\t%d\n" % (running.memcg == "on")
    put(root, "proc/cgroups", cgroups)
    put(root, "sys/fs/cgroup/cgroup.controllers", "io memory\n" if running.memcg == "on" else "io\n")


def model_lines(path, memcg):
    """The file's lines are "STATE LABEL.PHASE.UNIT=NUMBER"; STATE is none, disabled, on or *. The last one of a name wins."""
    numbers = {}
    if path:
        with open(path, encoding="ascii") as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    state, number = line.split()
                    if state in ("*", memcg):
                        name, value = number.split("=")
                        numbers[name] = value
    return ["model.%s=%s" % pair for pair in sorted(numbers.items())]


# What the phone's own world decides; relay and chain need a real device's files.
REPLACED = ("version", "counter", "root", "finish", "results", "clock", "settle_ms", "chain", "modules", "watchdog")


def agent_settings(text, root, model, memcg):
    """The settings as the host's agent can run them below `root`."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    at = next((i for i, line in enumerate(lines) if line.startswith("workload=")), len(lines))
    kept = [line for line in lines[:at] if line.split("=", 1)[0] not in REPLACED]
    numbers = model_lines(model, memcg)
    head = ["version=1", "counter=model", "clock=%d" % any(".ns=" in n for n in numbers), "finish=exit", "root=" + root]
    return "\n".join(head + kept + ["fault.seed=1"] + numbers + lines[at:]) + "\n"


def setting(text, name):
    for line in text.splitlines():
        if line.startswith(name + "="):
            return line.split("=", 1)[1]
        if line.startswith("workload="):
            break
    return None


def start_agent(agent, conf):
    return subprocess.Popen([agent, conf], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
