#!/bin/sh
# The demo (`make demo`): writes a sample kernel and its trace, ingests them and
# asks three questions.  Everything lands in build/demo/.
set -eu
cd "$(dirname "$0")/.."
bin=build/release
demo=build/demo
data=$demo/data

rm -rf "$demo"
mkdir -p "$demo"

ask() { # explanation, SQL
    printf '\n%s\n' "$1"
    "$bin/neuron-explorer" query --data-path "$data" matmul "$2"
}

"$bin/nx-generate" --quiet -m 512 -k 512 -n 2048 --out-neff "$demo/matmul.neff" --out-ntff "$demo/matmul.ntff"
echo "A sample: C[512,2048] = A[512,512]^T x B[512,2048] in bfloat16, tiled, on the two cores of a trn2"
echo "  $demo/matmul.neff  the kernel"
echo "  $demo/matmul.ntff  its trace"

"$bin/neuron-explorer" view --quiet -n "$demo/matmul.neff" -s "$demo/matmul.ntff" \
    --data-path "$data" --display-name matmul --ingest-only
echo "  $data  its tables, as Parquet files"

ask "How long did it take, and how busy was each engine (in percent of that)?" \
    "SELECT ROUND(total_time * 1e6, 1) AS microseconds,
            ROUND(100 * tensor_engine_active_time_percent, 1) AS tensor,
            ROUND(100 * vector_engine_active_time_percent, 1) AS vector,
            ROUND(100 * scalar_engine_active_time_percent, 1) AS scalar,
            ROUND(100 * dma_active_time_percent, 1) AS dma
     FROM Summary"

ask "Where did the time go, and what was waited for?" \
    "SELECT engine, opcode, COUNT(*) AS runs, SUM(duration_ns) AS busy_ns, SUM(evt_wait_time_ns) AS waited_ns
     FROM Instruction GROUP BY ALL ORDER BY busy_ns DESC LIMIT 8"

ask "Which DMA queue moved how much, and how fast?" \
    "SELECT queue_name, COUNT(*) AS transfers, SUM(transfer_bytes) AS bytes,
            ROUND(SUM(transfer_bytes) / (MAX(end_ts) - MIN(start_ts)), 1) AS gigabytes_per_s
     FROM DmaPacketAggregated GROUP BY ALL ORDER BY bytes DESC"

printf '\nAsk more:  %s query --data-path %s matmul "FROM Warning"\n' "$bin/neuron-explorer" "$data"
printf 'Serve it:  %s view --data-path %s --disable-ui\n' "$bin/neuron-explorer" "$data"
