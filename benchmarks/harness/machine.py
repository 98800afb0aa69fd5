"""The machine and the versions that the numbers depend on."""

import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import joblib

import maxmargin
from maxmargin import _native

LIBRARIES = ("numpy", "scipy", "scikit-learn", "scikit-learn-intelex", "pandas", "pyarrow")
THUNDER = Path(f"{sys.prefix}-thunder") / "bin" / "python"  # ThunderSVM has an environment of its own
MISSING = "not installed"


def cpu_model() -> str:
    """The processor's name as Linux reports it, else as Python does."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def thunder_version() -> str:
    question = "from importlib.metadata import version; print(version('thundersvm-cpu'))"
    try:
        done = subprocess.run([THUNDER, "-c", question], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return MISSING
    return done.stdout.strip()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return MISSING


def machine_facts() -> dict:
    """What must not change between a run and its continuation."""
    return {
        "cpu": cpu_model(),
        "cores": joblib.cpu_count(),
        "simd": _native.simd_name(),
        "python": platform.python_version(),
        "maxmargin": maxmargin.__version__,
        **{name: _version(name) for name in LIBRARIES},
        "ThunderSVM": thunder_version(),
    }
