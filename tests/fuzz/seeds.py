#!/usr/bin/env python3
"""Seeds for the fuzz targets, cut out of generated pairs; nothing of them is committed."""
import argparse, gzip, hashlib, io, os, struct, subprocess, tarfile, tempfile

# As the targets number them.
JSON = ["kelf-0.json", "info.json", "neff.json", "sg00/def.json", "sg00/tensor_map.json", "sg00/SP.json", "metrics.json",
        "kernel_debug_info.json"]
LEVELS = ["_asm_PE", "_backend_PE", "_backend_DMA", "penguin", "_hlo", "pttf", "stack_frame_index"]
KINDS = [("--ntff-version", "6"), ("--ntff-version", "4"), ("--ntff-version", "5", "--dma", "mixed"), ("--dma", "dynamic-hw")]
QUERIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "query")


def keep(out, target, data):
    folder = os.path.join(out, target)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, hashlib.sha1(data).hexdigest()[:16]), "wb") as f:
        f.write(data)


def of_neff(out, neff):
    keep(out, "fuzz_neff_container", neff)
    tar = gzip.decompress(neff[1024:])
    keep(out, "fuzz_neff_archive", tar)
    for member in tarfile.open(fileobj=io.BytesIO(tar)):
        content = tarfile.open(fileobj=io.BytesIO(tar)).extractfile(member)
        content = content.read() if content else b""
        name = member.name.removeprefix("./")
        for number, known in enumerate(JSON):
            if name == known:
                keep(out, "fuzz_neff_json", bytes([number]) + content)
        for number, part in enumerate(LEVELS):
            if ".dbg" in name and part in name:
                keep(out, "fuzz_neff_debug_info", bytes([number]) + content)
        if name.endswith(".bin"):
            keep(out, "fuzz_operands", content[:4096])


def of_ntff(out, ntff, pair):
    keep(out, "fuzz_ntff_container", ntff)
    size = struct.unpack_from("<Q", ntff, 1)[0]
    keep(out, "fuzz_ntff_metadata", bytes([ntff[0] - 4]) + ntff[128:128 + size])
    raw = ntff[128 + size:]
    for at in range(0, len(raw), max(1, len(raw) // 6)):
        keep(out, "fuzz_records", bytes([pair, at % 256]) + raw[at:at + 512])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--generator", required=True)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        neff, ntff = os.path.join(folder, "k.neff"), os.path.join(folder, "t.ntff")
        for pair, options in enumerate(KINDS):
            subprocess.run([arguments.generator, "--out-neff", neff, "--out-ntff", ntff, "--quiet", "-m", "128", "-k", "128", "-n", "512",
                            *options], check=True)
            with open(neff, "rb") as f:
                of_neff(arguments.out, f.read())
            with open(ntff, "rb") as f:
                of_ntff(arguments.out, f.read(), pair)
    for file in ("good.sql", "hostile.sql"):
        with open(os.path.join(QUERIES, file), "rb") as f:
            for line in f:
                keep(arguments.out, "fuzz_query", line.strip())


if __name__ == "__main__":
    main()
