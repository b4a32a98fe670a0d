"""A Python that has the dependencies, but not elrcheck, works with the zip alone."""

from __future__ import annotations

import io
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

import elrcheck
from elrcheck.base.errors import EnvironmentFault
from elrcheck.spark.conf import shipped
from elrcheck.spark.session import package_zip, packages_zip, zip_bytes

# -S: no `site`, so the finder of an editable installation is not there either.
ALONE = """
import sys
sys.path[:] = [path for path in sys.path if path] + [{dependencies!r}]
try:
    import elrcheck
except ImportError:
    pass
else:
    sys.exit("elrcheck is here without the zip: " + elrcheck.__file__)
sys.path.insert(1, {zip!r})
import elrcheck
from elrcheck.explorer.kernel.kernel import build
from elrcheck.lang.lowering.lower import lower
from elrcheck.declared.select import resolve
from elrcheck.invariants.modules import load_checked_model
from elrcheck.base.requests import Selection
selected = resolve(Selection(variant="code_4_1", scope="three-brokers-tiny"))
program = lower(load_checked_model(), selected.config).program
kernel = build(program)
print(elrcheck.__file__, len(program.instances) > 0, kernel.layout.words > 0)
foreign = {{name.split(".")[0] for name in sys.modules}} - set(sys.stdlib_module_names)
print(*sorted(foreign - {{"__main__"}}))
"""


def test_the_zip_holds_the_package_and_nothing_else() -> None:
    names = zipfile.ZipFile(io.BytesIO(zip_bytes())).namelist()
    assert {"elrcheck/__init__.py", "elrcheck/cli.py", "elrcheck/py.typed"} <= set(names)
    assert {"elrcheck/spark/session.py", "elrcheck/catalogue/scopes/two-brokers.toml"} <= set(names)
    strays = ("elrcheck/tests/", "elrcheck/benchmarks/", "elrcheck/build/", "elrcheck/docs/", "elrcheck/.")
    assert [name for name in names if name.startswith(strays) or "__pycache__" in name] == []
    assert names == sorted(names)


def test_every_package_travels() -> None:
    """Against the list in `pyproject.toml`, where a new folder is entered."""
    root = Path(elrcheck.__file__).parent
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    names = set(zipfile.ZipFile(io.BytesIO(zip_bytes())).namelist())
    for package in project["tool"]["setuptools"]["packages"]:
        assert f"{package.replace('.', '/')}/__init__.py" in names


def test_equal_sources_give_one_file(tmp_path: Path) -> None:
    place = package_zip(tmp_path)
    stamp = place.stat().st_mtime_ns
    assert package_zip(tmp_path) == place and place.stat().st_mtime_ns == stamp
    assert package_zip(tmp_path / "other").read_bytes() == place.read_bytes()
    assert list((tmp_path / "other").iterdir()) == [tmp_path / "other" / place.name]


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentFault, match="cannot write"):
        package_zip(tmp_path / "file")


@pytest.mark.slow
def test_a_python_without_elrcheck_compiles_a_kernel_from_the_zip(tmp_path: Path) -> None:
    place = package_zip(tmp_path)
    source = ALONE.format(zip=str(place), dependencies=sysconfig.get_path("purelib"))
    command = [sys.executable, "-S", "-I", "-c", source]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False)
    assert done.stderr == ""
    first, imported = done.stdout.splitlines()
    assert first == f"{place}/elrcheck/__init__.py True True"
    needed = {"elrcheck", "llvmlite", "msgspec", "numpy"}  # as docs/spark.md says; msgspec may import the last one
    assert needed <= set(imported.split()) <= needed | {"typing_extensions"}


@pytest.mark.slow
def test_python_alone_imports_the_shipped_packages(tmp_path: Path) -> None:
    """With what tasks import; -S hides the packages of this environment."""
    place = packages_zip(tmp_path, compressed=False)
    with zipfile.ZipFile(place) as archive:
        assert not [name for name in archive.namelist() if "__pycache__" in name or name.startswith(("..", "/"))]
        archive.extractall(tmp_path / "unpacked")
    modules = "numpy, pandas, pyarrow.parquet, pyarrow.fs, llvmlite.binding, msgspec"
    program = f"import {modules}; print(*{{m.__file__ for m in (numpy, pandas, pyarrow, llvmlite, msgspec)}})"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={"PYTHONPATH": str(tmp_path / "unpacked")},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert all(path.startswith(str(tmp_path)) for path in done.stdout.split())


def test_an_archive_for_executors_joins_those_of_the_user() -> None:
    assert shipped({}, Path("/tmp/packages.zip")) == {
        "spark.archives": "/tmp/packages.zip#elrcheck-packages",
        "spark.executorEnv.PYTHONPATH": "elrcheck-packages",
    }
    own = {"spark.archives": "a.tar.gz#a", "spark.executorEnv.PYTHONPATH": "b"}
    assert shipped(own, Path("p.zip")) == {
        "spark.archives": "a.tar.gz#a,p.zip#elrcheck-packages",
        "spark.executorEnv.PYTHONPATH": "elrcheck-packages:b",
    }
