#!/bin/sh
# Refuses sources that clang-format (16 or newer) would change. Usage: check_format.sh [--fix] [FILE ...]; without files all of src
# and tests. Exit code 0 clean, 1 some file differs, 2 no clang-format.
set -u
cd "$(dirname "$0")/.." || exit 2

find_tool() {
  for name in clang-format-16 clang-format-17 clang-format-18 clang-format-19 clang-format-20 clang-format; do
    command -v "$name" > /dev/null || continue
    major=$("$name" --version | sed -n 's/.*version \([0-9]*\)\..*/\1/p')
    [ "${major:-0}" -ge 16 ] && echo "$name" && return
  done
}

tool=$(find_tool)
if [ -z "$tool" ]; then
  echo "check_format: no clang-format of version 16 or newer; install clang-format-16" >&2
  exit 2
fi
mode="--dry-run --Werror"
if [ "${1:-}" = "--fix" ]; then
  mode="-i"
  shift
fi
if [ $# -eq 0 ]; then
  files=$(find src tests -type f \( -name '*.h' -o -name '*.cc' -o -name '*.cu' -o -name '*.cuh' \) | sort)
  # File names of this repository hold no blanks.
  # shellcheck disable=SC2086
  set -- $files
fi
# shellcheck disable=SC2086
if "$tool" $mode "$@"; then
  echo "check_format: $# files, clean"
else
  echo "check_format: run tools/check_format.sh --fix" >&2
  exit 1
fi
