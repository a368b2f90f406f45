#!/usr/bin/env python3
"""Refuses includes that src/ROOMS does not allow, followed to the end.

Every source file of a room, its tests too, may reach only headers of that room and of the rooms named on its line, directly or
through other headers. Two further rules: the narrow doors reach only what stands in NARROW_DOORS, and a file compiled for one
instruction set includes no ordinary header (an inline function compiled for a newer machine could become the program's only copy).

Usage: check_rooms.py [SOURCE_FOLDER]. Exit code 0 clean, 1 refused includes, 2 the table or the folder cannot be read.
"""
import collections
import os
import re
import sys

SOURCE_ENDINGS = (".h", ".cc", ".cu", ".cuh")
# Doors that fakes stand behind in tests: they reach less than their room may.
NARROW_DOORS = {"runtime/model_runner.h": {"api", "base"}, "executor/executor.h": {"api", "base"}}
ISA_FILE = re.compile(r"^kernels/cpu/.*_(avx2|avx512[a-z0-9]*)\.cc$")
# Plain structs and macros only, no inline function: what an ISA file may include besides *.inl.h.
ISA_PLAIN_HEADERS = set()
ISA_SYSTEM_HEADERS = {"immintrin.h", "cstddef", "cstdint", "stddef.h", "stdint.h"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)


class TableError(Exception):
    pass


def read_rooms(path):
    """Room -> rooms it may see. A room sees only rooms listed above it, so the table cannot hold a circle."""
    rooms = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            name, colon, seen = line.partition(":")
            if not colon or not name or name in rooms:
                raise TableError(f"{path}:{number}: not 'room: rooms', or a second line for '{name}'")
            seen = set(rooms) if seen.strip() == "*" else set(seen.split())
            unknown = seen - set(rooms)
            if unknown:
                raise TableError(f"{path}:{number}: '{name}' sees {sorted(unknown)}, which no line above defines")
            rooms[name] = seen
    return rooms


def list_files(source):
    for folder, _, names in sorted(os.walk(source)):
        for name in sorted(names):
            if name.endswith(SOURCE_ENDINGS):
                yield os.path.relpath(os.path.join(folder, name), source)


class Tree:
    def __init__(self, source):
        self.source = source
        self.rooms = read_rooms(os.path.join(source, "ROOMS"))
        self.files = list(list_files(source))
        self.known = set(self.files)
        self.quoted, self.system = {}, {}
        for path in self.files:
            with open(os.path.join(source, path), encoding="utf-8") as file:
                found = INCLUDE.findall(file.read())
            self.quoted[path] = [self.resolve(path, quoted) for quoted, _ in found if quoted]
            self.system[path] = [system for _, system in found if system]

    def resolve(self, path, include):
        """As the compiler looks: beside the file first, then from the source folder."""
        beside = os.path.normpath(os.path.join(os.path.dirname(path), include))
        return beside if beside in self.known else os.path.normpath(include)

    def room(self, path):
        first = path.split(os.sep)[0]
        return first if first in self.rooms else None

    def reached(self, start):
        """Every file that `start` reaches, with the shortest chain of includes to it."""
        chains, queue = {start: [start]}, collections.deque([start])
        while queue:
            path = queue.popleft()
            for target in self.quoted.get(path, []):
                if target not in chains:
                    chains[target] = chains[path] + [target]
                    queue.append(target)
        return chains


def check_sight(tree, path, allowed, what):
    """An include whose own file may not make it is reported there alone, not again by everyone above."""
    for target, chain in tree.reached(path).items():
        room = tree.room(target)
        if room is None or room in allowed:
            continue
        includer = tree.room(chain[-2])
        if len(chain) > 2 and room != includer and room not in tree.rooms.get(includer, set()):
            continue
        yield f"{path}: {what} may not see room '{room}': {' -> '.join(chain)}"


def check_missing(tree, path):
    for target in tree.quoted[path]:
        if target not in tree.known and not os.path.exists(os.path.join(tree.source, target)) and tree.room(target):
            yield f"{path}: includes {target}, which does not exist"


def check_isa_file(tree, path):
    for target, chain in tree.reached(path).items():
        through = " -> ".join(chain)
        if target != path and not target.endswith(".inl.h") and target not in ISA_PLAIN_HEADERS:
            yield (f"{path}: a file for one instruction set includes an ordinary header: {through}; move what it needs into an "
                   f".inl.h inside the ISA's namespace, or list a header of plain structs in ISA_PLAIN_HEADERS")
        for system in tree.system.get(target, []):
            if system not in ISA_SYSTEM_HEADERS:
                yield f"{path}: a file for one instruction set includes <{system}>: {through}; allowed are {sorted(ISA_SYSTEM_HEADERS)}"


def check(source):
    tree = Tree(source)
    errors = []
    for path in tree.files:
        room = tree.room(path)
        if room is None:
            errors.append(f"{path}: lies in no room of ROOMS")
            continue
        errors += check_missing(tree, path)
        errors += check_sight(tree, path, tree.rooms[room] | {room}, f"room '{room}'")
        if path in NARROW_DOORS:
            own = NARROW_DOORS[path] | {room}
            errors += check_sight(tree, path, own, "this narrow door")
        if ISA_FILE.match(path):
            errors += check_isa_file(tree, path)
    return tree, errors


def main(arguments):
    default = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src")
    try:
        tree, errors = check(arguments[0] if arguments else default)
    except (OSError, TableError) as error:
        print(f"check_rooms: {error}", file=sys.stderr)
        return 2
    for error in errors:
        print(error)
    print(f"check_rooms: {len(tree.files)} files, {len(tree.rooms)} rooms, {len(errors)} refused")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
