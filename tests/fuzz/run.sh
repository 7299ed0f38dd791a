#!/bin/sh
# Builds the fuzz targets, seeds them from the generator, and runs each for FUZZ_SECONDS (60).
#   tests/fuzz/run.sh [TARGET...]      e.g. fuzz_records
# What a run finds grows the corpus in build/fuzz/corpus, which is not committed; a crash is kept in build/fuzz/crashes.
set -u
cd "$(dirname "$0")/../.."
seconds=${FUZZ_SECONDS:-60}
cmake --preset fuzz --log-level=WARNING >/dev/null || exit 1
targets=${*:-$(cd tests/fuzz && ls fuzz_*.c | sed 's/\.c$//')}
# shellcheck disable=SC2086
cmake --build build/fuzz --target $targets || exit 1
mkdir -p build/fuzz/crashes
python3 tests/fuzz/seeds.py --generator build/release/nx-generate --out build/fuzz/corpus || exit 1
passed=0 failed=0
for target in $targets; do
    log=build/fuzz/$target.log
    case $target in # one core: others may be at work
    fuzz_ntff_container | fuzz_neff_container) size=65536 ;;
    *) size=16384 ;;
    esac
    leaks=1
    [ "$target" = fuzz_query ] && leaks=0 # the engine's parser leaks what a syntax error says
    if ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=$leaks build/fuzz/fuzz/$target -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -max_len=$size -print_final_stats=1 \
        -artifact_prefix=build/fuzz/crashes/$target- "build/fuzz/corpus/$target" >"$log" 2>&1; then
        passed=$((passed + 1)) result=ok
    else
        failed=$((failed + 1)) result=FAILED
        grep -m3 -E 'ERROR|SUMMARY|runtime error|ALARM' "$log"
    fi
    printf '%-24s %-7s %9s executions in %s s\n' "$target" "$result" \
        "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" "$seconds"
done
printf '%s passed, %s failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
