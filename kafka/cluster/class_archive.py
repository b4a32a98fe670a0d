"""An archive of the classes that a node loads (Java's class data sharing): nodes start in half the time.

A broker writes it at the end of the first run of a release, and later nodes map it. It is kept in the user's
cache under a digest of the jars and the JDK. Without it everything works, so no fault of it ends a run.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from elrcheck.base.atomic import write_bytes
from elrcheck.base.caches import cache_directory
from elrcheck.base.errors import EnvironmentFault
from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.java_program import Jdk

# A JVM without class data sharing does not know them. What it says of classes that it leaves out is noise.
TOLERANT = ("-XX:+IgnoreUnrecognizedVMOptions", "-Xlog:disable", "-Xlog:all=error:stderr")
RECORDING = "-XX:+RecordDynamicDumpInfo"
DRAFT = "classes.jsa"
WRITTEN = "elrcheck: classes written"
"""What `GuardedNode` prints when it has written an archive."""
PATIENCE = 60.0
KEPT = 2  # archives of a release: another JDK or another elrcheck needs its own


@dataclass(frozen=True)
class ClassArchive:
    """The archive of a class path, all of it jars, and a JDK. file: where it is once it is written."""

    file: Path

    @classmethod
    def of(cls, class_path: ClassPath, jdk: Jdk, environ: Mapping[str, str]) -> ClassArchive:
        key = hashlib.sha256(f"{class_path.digest()}\n{jdk.java.path}\n{jdk.java.version}\n".encode())
        folder = cache_directory(environ) / "kafka" / "archives"
        return cls(folder / f"{class_path.version}-{key.hexdigest()[:32]}.jsa")

    @property
    def there(self) -> bool:
        return self.file.is_file()

    def options(self) -> tuple[str, ...]:
        """The Java options of a node: to map the archive, or to be able to write it."""
        return (*TOLERANT, f"-XX:SharedArchiveFile={self.file}" if self.there else RECORDING)

    def keep(self, draft: Path) -> None:
        """Put what a node has written where later runs find it; a full disk costs them time only."""
        with contextlib.suppress(OSError, EnvironmentFault):
            write_bytes(self.file, draft.read_bytes())
            draft.unlink()
            version = self.file.name.rpartition("-")[0]
            found = sorted(self.file.parent.glob(f"{version}-*.jsa"), key=lambda file: file.stat().st_mtime)
            for old in found[:-KEPT]:
                old.unlink(missing_ok=True)
