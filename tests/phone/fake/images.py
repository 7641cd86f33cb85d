# SPDX-License-Identifier: GPL-3.0-or-later
"""Boot images as a bootloader reads them: header v0 to v4, ramdisk, the kernel's build id and config."""
import gzip
import lzma
import re
import struct
import zlib


class BadImage(Exception):
    pass


def pages(size, page):
    return (size + page - 1) // page * page


def text(field):
    return field.split(b"\0", 1)[0].decode("utf-8", "replace")


class BootImage:
    def __init__(self, data):
        if data[:8] != b"ANDROID!":
            raise BadImage("no boot image")
        self.version = struct.unpack_from("<I", data, 40)[0]
        if self.version >= 3:
            kernel_size, ramdisk_size = struct.unpack_from("<II", data, 8)
            page = 4096
            self.cmdline = text(data[44:44 + 1536])
        else:
            kernel_size = struct.unpack_from("<I", data, 8)[0]
            ramdisk_size = struct.unpack_from("<I", data, 16)[0]
            page = struct.unpack_from("<I", data, 36)[0]
            self.cmdline = text(data[64:64 + 512]) + text(data[608:608 + 1024])
        if page not in (2048, 4096, 8192, 16384):
            raise BadImage("page size %d" % page)
        at = page
        if at + pages(kernel_size, page) + ramdisk_size > len(data):
            raise BadImage("the image ends early")
        self.kernel = unpacked(data[at:at + kernel_size])
        at += pages(kernel_size, page)
        self.ramdisk = data[at:at + ramdisk_size]

    def build_id(self):
        """The first GNU build id note in the kernel, as hex; None when there is none."""
        found = re.search(rb"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0(.{20})", self.kernel, re.DOTALL)
        return found.group(1).hex() if found else None

    def release(self):
        found = re.search(rb"Linux version (\S+)", self.kernel)
        return found.group(1).decode("ascii", "replace") if found else "5.10.0-fake"

    def has_memcg(self):
        """As the kernel's own config says; a kernel that does not tell has it."""
        start, end = self.kernel.find(b"IKCFG_ST"), self.kernel.find(b"IKCFG_ED")
        if start < 0 or end < 0:
            return True
        config = zlib.decompressobj(31).decompress(self.kernel[start + 8:end])
        return b"\nCONFIG_MEMCG=y" in b"\n" + config

    def files(self):
        return cpio_files(self.ramdisk)


def unpacked(kernel):
    if kernel[:2] == b"\x1f\x8b":
        return zlib.decompressobj(31).decompress(kernel)
    return kernel


def cpio_files(data):
    """Regular files of newc archives, one after the other, each perhaps compressed; a later one replaces an earlier of that name."""
    files = {}
    at = 0
    while at < len(data):
        if data[at] == 0:
            at += 1
        elif data[at:at + 2] == b"\x1f\x8b":
            stream = zlib.decompressobj(31)
            files.update(cpio_files(stream.decompress(data[at:])))
            at = len(data) - len(stream.unused_data)
        elif data[at:at + 6] == b"\xfd7zXZ\0":
            files.update(cpio_files(lzma.decompress(data[at:])))
            break
        elif data[at:at + 6] in (b"070701", b"070702"):
            fields = [int(data[at + 6 + 8 * i:at + 14 + 8 * i], 16) for i in range(13)]
            mode, size, name_size = fields[1], fields[6], fields[11]
            name = data[at + 110:at + 110 + name_size - 1].decode("utf-8", "replace")
            body = at + (110 + name_size + 3) // 4 * 4
            if mode & 0o170000 == 0o100000:
                files[name.lstrip("/")] = data[body:body + size]
            at = body + (size + 3) // 4 * 4
        else:
            break
    return files


def make_kernel(build_id, memcg, release="5.10.0-fake"):
    """Bytes that a reader of arm64 Images takes for one: header, release, build id, config. Nothing can run it."""
    config = "CONFIG_ARM64=y\nCONFIG_IKCONFIG=y\nCONFIG_IKCONFIG_PROC=y\nCONFIG_MODULES=y\nCONFIG_LOCALVERSION=\"\"\n%s\n" % (
        "CONFIG_MEMCG=y" if memcg else "# CONFIG_MEMCG is not set")
    banner = ("Linux version %s (a@b) (gcc (Debian 12.2.0-14+deb12u1) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40) #1 SMP\n\0" % release)
    note = struct.pack("<III", 4, 20, 3) + b"GNU\0" + bytes.fromhex(build_id)
    body = banner.encode() + b"\0" * 64
    body += b"\0" * (-len(body) % 4) + note + b"IKCFG_ST" + gzip.compress(config.encode(), mtime=0) + b"IKCFG_ED"
    body += b"\0" * (-len(body) % 4096)
    header = struct.pack("<IIQQQQQQ", 0x14000010, 0, 0, 64 + len(body), 0xA, 0, 0, 0) + b"ARM\x64" + struct.pack("<I", 0)
    return header + body


def make_cpio(files):
    """A newc archive of (name, bytes, mode)."""
    data = b""
    for name, body, mode in files + [("TRAILER!!!", b"", 0)]:
        path = name.encode() + b"\0"
        fields = (1, mode, 0, 0, 1, 0, len(body), 0, 0, 0, 0, len(path), 0)
        data += b"070701" + b"".join(b"%08x" % field for field in fields) + path
        data += b"\0" * (-len(data) % 4) + body
        data += b"\0" * (-len(data) % 4)
    return data
