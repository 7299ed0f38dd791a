# The two commands of the README are `make demo` and `make test`; both install
# what they need (scripts/deps.sh).  The build itself is CMake's (CMakePresets.json).
.DEFAULT_GOAL := release
.PHONY: release debug asan tsan clang deps test-deps demo test install clean bench fuzz coverage

PREFIX ?= /usr/local

release debug asan tsan clang: deps
	@cmake --preset $@ --log-level=WARNING
	@cmake --build build/$@

deps:
	@scripts/deps.sh

test-deps:
	@scripts/deps.sh --tests

demo: release
	@scripts/demo.sh

test: test-deps
	@scripts/test.sh

# Ingestion of 1 and 10 million records and the server's latencies; RECORDS=1,10,100 for more.
RECORDS ?= 1,10
bench: release
	@cmake --build build/release --target nx-bench-ingest
	@bench/run.py --build build/release --records $(RECORDS)

# Each libFuzzer target for FUZZ_SECONDS; fails on a crash, and says how many executions there were.
fuzz: test-deps release
	@tests/fuzz/run.sh

# Lines and branches of src/ that the tests run; fails below the targets (90 and 80 %).
coverage: test-deps
	@scripts/coverage.sh

install: release
	@cmake --install build/release --prefix $(PREFIX)

clean:
	rm -rf build
