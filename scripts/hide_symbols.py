#!/usr/bin/env python3
"""Hides new symbols of a shared library from the linker, in place: hide_symbols.py FILE NAME_VERSION...

GLIBC_2.28 hides what needs a newer glibc. Programs are then linked against the newest definition up to that version, or
find none there. The loader still finds all symbols. Exit codes: 0 done, 2 usage or no such library.
"""

import re
import struct
import sys

HIDDEN = 0x8000  # of an entry of .gnu.version: not the default definition of its name
DYNSYM, VERDEF, VERSYM = 11, 0x6FFFFFFD, 0x6FFFFFFF  # types of sections


def key(version):
    return [int(part) for part in version.split(".")]


def text(data, offset):
    return data[offset : data.index(b"\0", offset)].decode()


def sections(data):
    """Returns the file's sections by type: offset, size, link."""
    table, count = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
    entries = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * i) for i in range(count)]
    return entries, {entry[1]: entry for entry in entries}


def hide(data, limits):
    """Changes the library's .gnu.version. limits: the newest version that is left, by its name's first part."""
    entries, by_type = sections(data)
    strings = entries[by_type[DYNSYM][6]][4]
    names = {}  # of versions, by index
    offset, more = by_type[VERDEF][4], True
    while more:
        _, _, index, _, _, auxiliary, step = struct.unpack_from("<HHHHIII", data, offset)
        names[index] = text(data, strings + struct.unpack_from("<I", data, offset + auxiliary)[0])
        offset, more = offset + step, step != 0

    def version(entry):
        found = re.fullmatch(r"([A-Z]+)_([0-9.]+)", names.get(entry & ~HIDDEN, ""))
        return (found[1], key(found[2])) if found else ("", [])

    symbols, versions = by_type[DYNSYM][4], by_type[VERSYM][4]
    older = {}  # the newest definition that is left, by name
    hidden = set()
    for i in range(by_type[DYNSYM][5] // 24):
        name, section = struct.unpack_from("<I", data, symbols + 24 * i)[0], struct.unpack_from("<H", data, symbols + 24 * i + 6)[0]
        if section == 0:
            continue
        at = versions + 2 * i
        entry = struct.unpack_from("<H", data, at)[0]
        kind, number = version(entry)
        name = text(data, strings + name)
        if kind in limits and number > limits[kind]:
            if not entry & HIDDEN:
                hidden.add(name)
            struct.pack_into("<H", data, at, entry | HIDDEN)
        elif number > older.get(name, ([], 0))[0]:
            older[name] = (number, at)
    for name in hidden & older.keys():
        at = older[name][1]
        struct.pack_into("<H", data, at, struct.unpack_from("<H", data, at)[0] & ~HIDDEN)


def main(arguments):
    pattern = re.compile(r"([A-Z]+)_([0-9]+(?:\.[0-9]+)*)")
    limits = [pattern.fullmatch(word) for word in arguments[1:]]
    if not limits or None in limits:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    try:
        with open(arguments[0], "rb") as file:
            data = bytearray(file.read())
        if data[:6] != b"\x7fELF\x02\x01":
            raise OSError("not an ELF file of 64 bits, little-endian")
        hide(data, {limit[1]: key(limit[2]) for limit in limits})
        with open(arguments[0], "wb") as file:
            file.write(data)
    except (OSError, KeyError) as error:
        print(f"hide_symbols: {arguments[0]}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
