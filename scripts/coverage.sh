#!/bin/sh
# Which lines and branches of src/ the tests run: `make coverage`.  Prints lines and branches by folder, the files below the
# target and the functions that nothing calls; the lines themselves are in build/coverage/html/index.html.
#
# Clang counts in the source (-fcoverage-mapping): a branch is one side of a condition that somebody wrote, whatever
# the optimizer makes of it.  Nothing is left out but what both compilers know to be constant.  The counters live in
# mapped files, so processes count up to their last instruction: workers that are killed behind their sandbox, and
# writers that tests kill.
set -u
cd "$(dirname "$0")/.."
dir=build/coverage
program=$dir/neuron-explorer
failures=""

run() { # name, command...
    name=$1
    shift
    printf '\n=== %s: %s\n' "$name" "$*"
    "$@" >"$dir/$name.log" 2>&1 || failures="$failures $name"
    tail -n 3 "$dir/$name.log"
}

cmake --preset coverage --log-level=WARNING >/dev/null && cmake --build $dir || exit 1
rm -rf $dir/counters
run unit ctest --test-dir $dir --output-on-failure --timeout 300 -j 2
run e2e python3 tests/e2e/run.py --program $program
run reference .venv/bin/python tests/reference/compare.py --program $program
run client .venv/bin/python tests/client/run.py --program $program

llvm-profdata-14 merge -sparse $dir/counters/*.profraw -o $dir/all.profdata || exit 1
objects=""
for test in $dir/tests/test_*; do
    [ -x "$test" ] && objects="$objects -object $test"
done
outside='/(tests|tools|bench|build)/'
# shellcheck disable=SC2086
llvm-cov-14 show $program $objects -instr-profile $dir/all.profdata -ignore-filename-regex "$outside" \
    -show-branches=count -format html -output-dir $dir/html || exit 1
# shellcheck disable=SC2086
llvm-cov-14 export $program $objects -instr-profile $dir/all.profdata -ignore-filename-regex "$outside" >$dir/coverage.json || exit 1
python3 scripts/coverage_report.py $dir/coverage.json
status=$?
[ -z "$failures" ] || printf 'tests failed:%s (%s/*.log)\n' "$failures" "$dir"
[ -z "$failures" ] && exit $status
exit 1
