#!/bin/sh
# Installs what the build and the tests need, from package registries only:
# Debian packages by apt-get, DuckDB's C library and header from npm (pinned,
# checked sums, unpacked and never installed), Python clients for the tests by
# pip into .venv (with --tests).  Does nothing that is already done.
set -eu
cd "$(dirname "$0")/.."

tests=no
[ "${1:-}" = "--tests" ] && tests=yes

# ---------------------------------------------------------------- Debian
packages="gcc make cmake ninja-build pkg-config ca-certificates libc6-dev
  zlib1g-dev libarchive-dev libjansson-dev libmicrohttpd-dev libcmocka-dev"
[ $tests = yes ] && packages="$packages clang libclang-rt-14-dev llvm-14 curl python3 python3-venv"
command -v npm >/dev/null 2>&1 || packages="$packages npm"
missing=""
for p in $packages; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $p"
done
if [ -n "$missing" ]; then
    sudo=""
    [ "$(id -u)" = 0 ] || sudo="sudo"
    echo "deps: installing Debian packages:$missing"
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    # shellcheck disable=SC2086
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

# ---------------------------------------------------------------- DuckDB
# The shared library of 1.5.6 from its Node bindings; the C header of 1.4.4 fits it
# (same functions, prototypes, constants and sizes; see docs/dependencies.md).
header=duckdb@1.4.4
header_sum=5bb967dcbcd517670ba5f169f238fb9d6787e53752c60ebe24386169d76941ed
case "$(uname -m)" in
x86_64)
    library=@duckdb/node-bindings-linux-x64@1.5.6-r.1
    library_sum=1b9f82478539bb9a1d1df44bd103121a12ae52142c07158dc52b97d2ec1d69ff ;;
aarch64)
    library=@duckdb/node-bindings-linux-arm64@1.5.6-r.1
    library_sum=3a45a6305b3235a781ed9de25aa795a3862acd042782d1f864e1bdb656de212b ;;
*) echo "deps: no DuckDB library is packaged for $(uname -m)" >&2; exit 1 ;;
esac

unpack() { # package, sha256, path inside, where to
    tmp=$(mktemp -d)
    (cd "$tmp" && npm pack --silent "$1" >/dev/null)
    tgz=$(ls "$tmp"/*.tgz)
    echo "$2  $tgz" | sha256sum -c --quiet - || { echo "deps: $1 is not the pinned file" >&2; exit 1; }
    tar -xzf "$tgz" -C "$tmp" "$3"
    mv "$tmp/$3" "$4.new" && mv "$4.new" "$4"
    rm -rf "$tmp"
}
mkdir -p third_party/duckdb
stamp="$library_sum $header_sum"
if [ "$(cat third_party/duckdb/stamp 2>/dev/null)" != "$stamp" ]; then
    echo "deps: fetching DuckDB ($library, header of $header)"
    unpack "$header" "$header_sum" package/src/duckdb/src/include/duckdb.h third_party/duckdb/duckdb.h
    unpack "$library" "$library_sum" package/libduckdb.so third_party/duckdb/libduckdb.so
    echo "$stamp" > third_party/duckdb/stamp
fi

# ---------------------------------------------------------------- Python
if [ $tests = yes ]; then
    stamp=$(sha256sum tests/requirements.txt | cut -d' ' -f1)
    if [ "$(cat .venv/stamp 2>/dev/null)" != "$stamp" ]; then
        echo "deps: installing the Python test clients into .venv"
        python3 -m venv .venv
        .venv/bin/pip install --quiet --disable-pip-version-check -r tests/requirements.txt
        echo "$stamp" > .venv/stamp
    fi
fi
