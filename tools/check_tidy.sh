#!/bin/sh
# clang-tidy with the short list of .clang-tidy. Usage: check_tidy.sh [-p BUILD_FOLDER] [--all | FILE.cc ...]; without files the
# .cc files of src that the last commit touched, that differ from it or are new (all take minutes). Exit code 0 clean, 1 findings,
# 2 tool or build folder is missing.
set -u
cd "$(dirname "$0")/.." || exit 2

build=build/debug
if [ "${1:-}" = "-p" ]; then
  build=${2:-}
  shift 2
fi
tool=clang-tidy-16  # versions differ in what they find, so there is one
if ! command -v "$tool" > /dev/null; then
  echo "check_tidy: no $tool; install it" >&2
  exit 2
fi
if [ ! -f "$build/compile_commands.json" ]; then
  echo "check_tidy: $build/compile_commands.json is missing; configure a build or name one with -p" >&2
  exit 2
fi

# Tests are left out: they use moved values and bare fixtures on purpose.
if [ "${1:-}" = "--all" ]; then
  files=$(git ls-files 'src/*.cc' ':!*_test.cc')
elif [ $# -gt 0 ]; then
  files=$*
else
  files=$({ git diff --name-only --diff-filter=d HEAD -- 'src/*.cc' ':!*_test.cc'; git ls-files --others --exclude-standard -- 'src/*.cc' ':!*_test.cc'
            git show --format= --name-only --diff-filter=d HEAD -- 'src/*.cc' ':!*_test.cc'; } | sort -u)
fi
count=$(echo "$files" | wc -w)
if [ "$count" -eq 0 ]; then
  echo "check_tidy: nothing changed"
  exit 0
fi
if echo "$files" | xargs -P 2 -n 4 "$tool" -p "$build" --quiet; then
  echo "check_tidy: $count files, clean"
else
  echo "check_tidy: findings above (or a file does not compile)" >&2
  exit 1
fi
