#!/usr/bin/env python3
"""Client check: Python's pandas (pyarrow) and duckdb read the stored tables as they are.

    .venv/bin/python tests/client/run.py --program build/release/neuron-explorer [--shared DIR] [WORD...]

The last line counts.
"""
import argparse, os, sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "e2e"))
sys.path.insert(0, here)
import harness


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--shared", default=os.path.join(here, "..", "..", "..", "shared"))
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    try:
        import duckdb, pandas, pyarrow  # noqa: F401
    except ImportError as problem:
        sys.exit("run.py: %s (scripts/deps.sh --tests puts it into .venv)" % problem)
    import bounds, comparisons, findings, invariants, schema_walk, tables, worked_examples  # noqa: F401  (they register their tests)
    context = harness.Context(os.path.abspath(arguments.program), None, os.path.abspath(arguments.shared), arguments.keep)
    os.environ.pop("XDG_DATA_HOME", None)
    os.environ["HOME"] = context.root
    try:
        return harness.main(context, arguments.words)
    finally:
        context.close()


if __name__ == "__main__":
    sys.exit(main())
