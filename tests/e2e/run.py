#!/usr/bin/env python3
"""End-to-end tests: they start the real program and talk to it as users do.

    run.py --program build/release/neuron-explorer [--asan-program FILE] [--shared DIR] [--keep] [WORD...]

Only tests whose name holds one of the WORDs run.  Needs Python 3, curl, and
nx-generate beside the program; nothing else.  The last line counts.
"""
import argparse, os, shutil, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness
import what_a_user_does, command_line, serving, ingestion, records, generated, quality, damage, flow, source_lines, abuse  # noqa: F401  (register their tests)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--asan-program")
    parser.add_argument("--shared", default=os.path.join(here, "..", "..", "..", "shared"))
    parser.add_argument("--keep", action="store_true", help="leave the files of the tests behind")
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    for tool in ("curl", "sh"):
        if not shutil.which(tool):
            sys.exit("run.py: %s is needed (scripts/deps.sh --tests installs it)" % tool)
    asan = arguments.asan_program and os.path.abspath(arguments.asan_program)
    context = harness.Context(os.path.abspath(arguments.program), asan if asan and os.path.exists(asan) else None,
                              os.path.abspath(arguments.shared), arguments.keep)
    for needed in (context.program, context.generate):
        if not os.access(needed, os.X_OK):
            sys.exit("run.py: %s is not there: build first" % needed)
    # nothing of the user's own profiles or settings
    for name in ("XDG_DATA_HOME", "NO_COLOR"):
        os.environ.pop(name, None)
    os.environ["HOME"] = context.root
    try:
        return harness.main(context, arguments.words)
    finally:
        context.close()
        if arguments.keep:
            print("files are in %s" % context.root)


if __name__ == "__main__":
    sys.exit(main())
