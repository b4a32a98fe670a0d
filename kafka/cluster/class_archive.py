"""An archive of the classes that a node loads (Java's class data sharing): nodes start in half the time.

A broker writes it at the end of the first run of a release, and later nodes map it. The store keeps it by jars and
JDK. It is optional, so a fault of it never ends a run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from elrcheck.base.kept import named_digests as digests
from elrcheck.base.kept.store import FileStore
from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.java_program import Jdk

# A JVM without class data sharing does not know them. Its messages about classes left out are noise.
TOLERANT = ("-XX:+IgnoreUnrecognizedVMOptions", "-Xlog:disable", "-Xlog:all=error:stderr")
RECORDING = "-XX:+RecordDynamicDumpInfo"
DRAFT = "classes.jsa"
WRITTEN = "elrcheck: classes written"
"""The line that `GuardedNode` prints when it has written an archive."""
PATIENCE = 60.0
MOST = 12  # archives: each release needs its own, and so does another JDK or another elrcheck


class ClassArchive:
    """The archive of a class path, all of it jars, and a JDK. file: its place in the store, None if it is not there."""

    def __init__(self, key: str, environ: Mapping[str, str]) -> None:
        self.key, self._files = key, FileStore("archives", ".jsa", environ)
        self.file = self._files.get(key)

    @classmethod
    def of(cls, class_path: ClassPath, jdk: Jdk, environ: Mapping[str, str]) -> ClassArchive:
        java = {"path": str(jdk.java.path), "version": jdk.java.version}
        return cls(digests.key(release=class_path.version, jars=class_path.digest(), java=java), environ)

    def options(self) -> tuple[str, ...]:
        """Return the Java options of a node: to map the archive, or to be able to write it."""
        return (*TOLERANT, RECORDING if self.file is None else f"-XX:SharedArchiveFile={self.file}")

    def keep(self, draft: Path) -> None:
        """Store an archive that a node has written; if that fails, later runs only take longer."""
        with contextlib.suppress(OSError):
            self.file = self._files.put(self.key, draft.read_bytes())
            draft.unlink()
            self._files.prune(MOST)
