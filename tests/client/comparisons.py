"""compare, --fail-on, and both analyses over the API."""
import json

from bounds import analyze
from findings import full_rate, made, tensor_at_work
from harness import check, equal, test
from made import Kernel
from worked_examples import HALVED, V0, blocked_matmul


def compare(c, data, *names):
    result = c.run("compare", *names, "--data-path", data, "--format", "json")
    equal(result.status, 0, "compare: %s" % result)
    return json.loads(result.out)


def line(comparison, name):
    return next(r for r in comparison["lines"] if r["name"] == name)


@test
def versions_side_by_side(c):
    data = c.folder("data")
    blocked_matmul(c, data, "V0", 8602, 7906, 4806, 176, V0)
    blocked_matmul(c, data, "V1", 2451, 1325, 2163, 174, HALVED)
    blocked_matmul(c, data, "V2", 1801, 819, 1781, 172, HALVED)
    found = compare(c, data, "V0", "V1", "V2")
    equal((found["profiles"], found["bottlenecks"]), (["V0", "V1", "V2"], ["DMA", "Tensor", "Tensor"]), "versions and bottlenecks")
    total = line(found, "total_ns")
    equal(total["values"], [8602000, 2451000, 1801000], "total time")
    equal([(r["difference"], round(1 / r["factor"], 1)) for r in total["changes"]], [(-6151000, 3.5), (-6801000, 4.8)], "changes from V0")
    equal([round(1 / line(found, n)["changes"][0]["factor"], 1) for n in ("memory_bound", "memory_bound_ideal", "compute_bound")],
          [6.0, 6.0, 2.2], "the published factors of V1")
    equal(line(found, "memory_bound_ideal_no_reloads")["changes"][0], {"difference": 0, "factor": 1}, "what did not change")
    findings = {f["name"]: f for f in found["findings"]}
    equal(findings["tensor_efficiency"]["changes"], ["still there", "vanished"], "V2 is near the peak of the Tensor engine")
    equal(findings["tensor_idle"]["changes"], ["still there", "vanished"], "and no longer idle")
    equal(findings["tensor_transposes"]["changes"], ["still absent", "still absent"], "no version transposes")
    back = compare(c, data, "V2", "V0")
    equal({f["name"]: f["changes"][0] for f in back["findings"]}["tensor_idle"], "appeared", "the other way round")
    for format in ("text", "markdown"):
        result = c.run("compare", "V0", "V1", "V2", "--data-path", data, "--format", format)
        equal(result.status, 0, "compare as %s" % format)
        check(all(name in result.out for name in ("V0", "V1", "V2", "bottleneck")), "%s shows all versions" % format, result)
        if format == "text":
            check(max(len(l) for l in result.out.splitlines()) <= 100, "at most 100 columns", result)


@test
def wrong_usage_and_missing_versions(c):
    data = c.folder("data")
    made(c, data, "one", lambda k: full_rate(k, 100, 3))
    for arguments, status in ((("compare", "one"), 2), (("compare",), 2), (("compare", "one", "two"), 1), (("analyze",), 2),
                              (("analyze", "one", "two"), 2), (("analyze", "two"), 1), (("analyze", "one", "--window", "1"), 2),
                              (("analyze", "one", "--window", "200:100"), 1), (("compare", "one", "one", "--fail-on", "flops>1"), 2)):
        equal(c.run(*arguments, "--data-path", data).status, status, " ".join(arguments))


@test
def conditions_for_ci(c):
    data = c.folder("data")
    blocked_matmul(c, data, "V0", 8602, 7906, 4806, 176, V0)
    for conditions, status in (("memory_bound_ideal_gap>0.4", 1), ("memory_bound_ideal_gap>0.6", 0), ("excess_ratio>=12, total_ns<5", 0),
                               ("total_ns<5,excess_ratio > 11.9", 1), ("perfect_pipeline<=7906000", 1), ("memory_bound_ideal_no_reloads_speedup>1.8", 0),
                               ("nothing>1", 2), ("flops", 2), ("flops>", 2), ("flops>1,", 2), ("", 2), ("flops>1;", 2)):
        result = c.run("analyze", "V0", "--data-path", data, "--fail-on", conditions)
        equal(result.status, status, "--fail-on '%s': %s" % (conditions, result.err))
        if status == 1:
            check(result.err, "it says which condition holds")
    made(c, data, "no_tensors", lambda k: tensor_at_work(k, 0, 3))
    equal(c.run("analyze", "no_tensors", "--data-path", data, "--fail-on", "excess_ratio>2").status, 1, "what is not known does not pass")


@test
def the_report_is_at_most_100_columns(c):
    data = c.folder("data")

    def build(k):
        blocked = "a/very/long/path/to/the/models/layers/attention/kernels/blocked_matrix_multiplication_kernel.py:%d"
        for i in range(20):
            k.transfer(i * 1000, 900, 65536, "[[INPUT]]", "[SB]", "a_tensor_with_a_long_name_%d" % i, line=blocked % i)
        tensor_at_work(k, 0, 10, k=32, line=blocked % 100)
        k.tensor("a", "IN", 1000)

    made(c, data, "wide", build)
    result = c.run("analyze", "wide", "--data-path", data)
    lines = result.out.splitlines()
    check(max(len(l) for l in lines) <= 100, "width", max(lines, key=len))
    check(any("kernel.py:19" in l for l in lines), "cut at the front, where names are alike", result.out[:3000])


@test
def over_the_api(c):
    data = c.folder("data")
    blocked_matmul(c, data, "V0", 8602, 7906, 4806, 176, V0)
    blocked_matmul(c, data, "V1", 2451, 1325, 2163, 174, HALVED)
    with c.server(data) as server:
        status, report = c.search(server, "V0", {"type": "analyze"})
        equal((status, report), (200, analyze(c, data, "V0")), "analyze says what the command says")
        status, report = c.search(server, "V0", {"type": "analyze", "window": "1000:500000", "showSql": True})
        equal((status, report), (200, analyze(c, data, "V0", "--window", "1000:500000", "--show-sql")), "with a window and SQL")
        status, comparison = c.search(server, "V0", {"type": "compare", "with": ["V1"]})
        equal((status, comparison), (200, compare(c, data, "V0", "V1")), "compare as well")
        for profile, body, expected in (("V0", {"type": "analyze", "window": "x"}, (422, "bad_request")),
                                        ("V0", {"type": "analyze", "window": 5}, (422, "bad_request")),
                                        ("V0", {"type": "analyze", "showSql": 1}, (422, "bad_request")),
                                        ("V0", {"type": "analyze", "timeoutMs": -1}, (422, "bad_request")),
                                        ("V0", {"type": "compare"}, (422, "bad_request")), ("V0", {"type": "compare", "with": "V1"}, (422, "bad_request")),
                                        ("V0", {"type": "compare", "with": [1]}, (422, "bad_request")),
                                        ("V0", {"type": "compare", "with": ["V1"] * 21}, (422, "bad_request")),
                                        ("V0", {"type": "compare", "with": ["V9"]}, (404, "profile_not_found")),
                                        ("V9", {"type": "analyze"}, (404, "profile_not_found"))):
            status, answer = c.search(server, profile, body)
            equal((status, answer["error"]["code"]), expected, "%s %s" % (profile, body))
