# What the jobs python-3.X share; a job says which: the tests that are not slow, on that Python, with the native libraries of build/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
version=${0##*-} place=$PWD/build/ci/python-${0##*-}
interpreter=$(command -v "python$version") || { echo "there is no python$version on this machine" >&2; exit 1; }
"$interpreter" -c '' || exit 1 # a shim without a Python behind it
scripts/build
[ -x "$place/bin/python" ] || "$interpreter" -m venv "$place"
unset PYTHONDONTWRITEBYTECODE # what was compiled is kept, as in scripts/test
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTEST_ADDOPTS="--hypothesis-profile=ci ${PYTEST_ADDOPTS:-}"
"$place/bin/python" -m pip install --quiet "scikit-build-core[wheels]>=0.10"
# The libraries know no Python: they are built once, for all.
"$place/bin/python" -m pip install --quiet --no-build-isolation --config-settings=wheel.cmake=false --config-settings=build-dir="$place/objects" --editable ".[dev,amd]"
export ANYWARP_PYTHON=$place/bin/python # the compile service, too, runs in that Python
exec "$place/bin/python" -m pytest -m "not slow and not long" "$@"
