# What the jobs of scripts/ci share; source it first. Whatever a job brings lies in build/ci, and nothing is installed into the system.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTEST_ADDOPTS="--hypothesis-profile=ci ${PYTEST_ADDOPTS:-}"
unset PYTHONDONTWRITEBYTECODE # what was compiled is kept, as in scripts/test
brought=$PWD/build/ci
mkdir -p "$brought"

# built [TARGET...]: .venv with all that the plain tests need, and the native libraries (these targets only, where any are named).
built() {
  scripts/setup dev demo numba nvcc torch >&2
  scripts/build "$@" >&2
}

# environment NAME REQUIREMENT...: an environment of its own that sees .venv's packages, too; prints its python.
# What other tests must not see (Triton, which changes what PyTorch does) is installed there.
environment() {
  local python=$brought/$1/bin/python below place
  shift
  [ -x "$python" ] || .venv/bin/python -m venv "${python%/bin/python}" >&2
  below=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  place=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  echo "import site; site.addsitedir('$below')" >"$place/below.pth"
  "$python" -m pip install --quiet --no-compile "$@" >&2 # most modules of a large package are never imported
  echo "$python"
}

# debian PACKAGE [SUITE...]: unpack one of Debian's packages without installing it; prints the folder. With suites it comes out of the first of
# them that has it, from the mirror that this machine's Debian is updated from: what the release of the machine has may be too old.
debian() {
  local package=$1 place=$brought/debian/$1 from=()
  shift
  if [ ! -d "$place" ]; then
    mkdir -p "$brought/debian"
    [ $# -eq 0 ] || from=($(debian_suites "$@")) || return 1
    (cd "$brought/debian" && apt-get "${from[@]}" download --quiet=2 "$package" && dpkg-deb -x "$package"_*.deb "$package.part" && mv "$package.part" "$package") >&2 || {
      echo "cannot fetch Debian's package $package: apt-get update may be needed first" >&2
      return 1
    }
  fi
  echo "$place"
}

# debian_suites SUITE...: read the lists of these suites into build/ci, the first preferred; prints the options by which apt-get uses those alone.
debian_suites() {
  local place=$brought/debian/apt mirror suite
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 '/debian/$') || {
    echo "this machine has no mirror of Debian in its sources" >&2
    return 1
  }
  mkdir -p "$place"/{state/lists,cache/archives}/partial
  for suite; do echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"; done >"$place/sources.list"
  set -- -o Dir::Etc::SourceList="$place/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State="$place/state" -o Dir::State::status=/dev/null \
    -o Dir::Cache="$place/cache" -o Acquire::Languages=none -o APT::Sandbox::User="$(id -un)" -o APT::Default-Release="$1"
  apt-get "$@" --quiet=2 update >&2 || return 1
  printf '%s\n' "$@"
}

# hip_headers: what ANYWARP_HIP_INCLUDE names, else HIP's headers from Debian's package, whose stable releases have HIP 5; prints the folder.
# Triton's wheel carries headers, too, but not those of cooperative groups.
hip_headers() {
  [ -z "${ANYWARP_HIP_INCLUDE:-}" ] || { echo "$ANYWARP_HIP_INCLUDE"; return; }
  local place
  place=$(debian libamdhip64-dev experimental sid) || { echo "name folders with HIP's headers in ANYWARP_HIP_INCLUDE" >&2; return 1; }
  echo "$place/usr/include"
}

# emulator_tests MARKERS [arguments of pytest]: tests of kernels for AMD GPUs in the emulator, with a compiler of HIP and NVIDIA's.
emulator_tests() {
  local markers=$1 toolkit
  shift
  built
  scripts/setup amd check
  TINYGRAD=$(scripts/tinygrad_tree)
  ANYWARP_HIP_INCLUDE=$(hip_headers)
  toolkit=$(scripts/nvidia_toolkit)
  export TINYGRAD ANYWARP_HIP_INCLUDE PATH=$toolkit/bin:$PATH
  .venv/bin/python -m pytest --job emulator --job hip-compiler --job nvcc -m "$markers" --ignore tests/frameworks "$@"
}
