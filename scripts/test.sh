#!/bin/sh
# Runs every test, from a bare machine: `make test`.  Steps that need the real
# profiles look for them in ../shared and say so when they skip.
#   scripts/test.sh            everything
#   scripts/test.sh STEP...    only those: gcc clang unit asan e2e reference client
set -u
cd "$(dirname "$0")/.."
steps="${*:-gcc clang unit asan e2e reference client}"
passed=0 failed=0 failures=""

step() { # name, command...
    name=$1
    shift
    case " $steps " in *" $name "*) ;; *) return ;; esac
    printf '\n=== %s: %s\n' "$name" "$*"
    start=$(date +%s)
    if "$@"; then
        passed=$((passed + 1))
        result=ok
    else
        failed=$((failed + 1))
        failures="$failures $name"
        result=FAILED
    fi
    printf -- '--- %s: %s (%s s)\n' "$name" "$result" "$(($(date +%s) - start))"
}

build() { # preset
    cmake --preset "$1" --log-level=WARNING && cmake --build "build/$1"
}

unit() { # preset
    build "$1" && ctest --test-dir "build/$1" --output-on-failure --timeout 300 -j 2
}

# Leaks count; a crash must show where.  An allocation that fails must return NULL as without ASan.
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:detect_stack_use_after_return=0
export UBSAN_OPTIONS=print_stacktrace=1

step gcc build release
step clang build clang
step unit unit release
step asan unit asan
step e2e python3 tests/e2e/run.py --program build/release/neuron-explorer --asan-program build/asan/neuron-explorer
step reference .venv/bin/python tests/reference/compare.py --program build/release/neuron-explorer
step client .venv/bin/python tests/client/run.py --program build/release/neuron-explorer

printf '\n'
[ -z "$failures" ] || printf 'failed steps:%s\n' "$failures"
printf '%s passed, %s failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
