# Where the libraries come from.  Debian packages are found by pkg-config;
# DuckDB is unpacked from its npm packages by scripts/deps.sh into
# third_party/ (not committed), with pinned versions and checked sums.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(LIBARCHIVE REQUIRED IMPORTED_TARGET libarchive)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

set(NX_DUCKDB_DIR ${CMAKE_SOURCE_DIR}/third_party/duckdb CACHE PATH "folder with duckdb.h and libduckdb.so")
if(NOT EXISTS ${NX_DUCKDB_DIR}/libduckdb.so OR NOT EXISTS ${NX_DUCKDB_DIR}/duckdb.h)
  message(FATAL_ERROR "DuckDB is not in ${NX_DUCKDB_DIR}: run scripts/deps.sh (or `make deps`) first")
endif()
add_library(duckdb SHARED IMPORTED)
set_target_properties(duckdb PROPERTIES
  IMPORTED_LOCATION ${NX_DUCKDB_DIR}/libduckdb.so
  INTERFACE_INCLUDE_DIRECTORIES ${NX_DUCKDB_DIR})
