#!/bin/sh
# Refuses sources that clang-format 16 would change. Usage: check_format.sh [--fix] [FILE ...]; without files all of src
# and tests. Exit code 0 clean, 1 some file differs, 2 no clang-format-16.
set -u
cd "$(dirname "$0")/.." || exit 2

tool=clang-format-16  # versions differ in what they do, so there is one
if ! command -v "$tool" > /dev/null; then
  echo "check_format: no $tool; install it" >&2
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
