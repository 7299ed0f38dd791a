#!/usr/bin/env python3
"""Prints what scripts/coverage.sh measured (the JSON of `llvm-cov export`); fails below the targets."""
import json, os, sys

TARGETS = {"lines": 90.0, "branches": 80.0}  # percent of src/


class Count:
    def __init__(self):
        self.of = {kind: [0, 0] for kind in TARGETS}

    def add(self, summary):
        for kind, sums in self.of.items():
            sums[0] += summary[kind]["covered"]
            sums[1] += summary[kind]["count"]

    def percent(self, kind):
        covered, count = self.of[kind]
        return 100.0 * covered / count if count else 100.0

    def reaches_targets(self):
        return all(self.percent(kind) >= target for kind, target in TARGETS.items())

    def show(self, name):
        print("%-32s" % name + "".join(" %8d of %6d %7.2f %%" % (*self.of[kind], self.percent(kind)) for kind in TARGETS))


def never_called(functions, root):
    """{file: names} of functions of which no copy ran (a function of a header has one in each file that includes it)."""
    ran = {}
    for function in functions:
        path = os.path.relpath(function["filenames"][0], root)
        key = (path, function["name"].rpartition(":")[2])
        ran[key] = ran.get(key, False) or function["count"] > 0
    names = {}
    for (path, name), did in sorted(ran.items()):
        if not did and not path.startswith(".."):
            names.setdefault(path, []).append(name)
    return names


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src")
    with open(sys.argv[1]) as f:
        data = json.load(f)["data"][0]
    files, folders, total = {}, {}, Count()
    for entry in data["files"]:
        path = os.path.relpath(entry["filename"], root)
        for count in (files.setdefault(path, Count()), folders.setdefault(os.path.dirname(path), Count()), total):
            count.add(entry["summary"])
    print("\n%-32s %26s %27s" % ("src/", "lines", "branches"))
    for folder in sorted(folders):
        folders[folder].show(folder)
    total.show("all")
    below = [path for path in sorted(files) if not files[path].reaches_targets()]
    print("\nfiles below %(lines).0f %% of lines or %(branches).0f %% of branches:" % TARGETS)
    for path in below:
        files[path].show(path)
    print("\nfunctions that nothing calls:")
    for path, names in never_called(data["functions"], root).items():
        print("%-32s %s" % (path, ", ".join(names)))
    print()
    return 0 if total.reaches_targets() else 1


if __name__ == "__main__":
    sys.exit(main())
