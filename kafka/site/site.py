"""`elrcheck site`: write the gallery, and the documents around it, as files that need no server."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from elrcheck.base.atomic import write_files
from elrcheck.base.progress import Progress
from elrcheck.kafka.site.document_pages import build_documents, obstacle
from elrcheck.kafka.site.gallery import FOLDER, gallery

HOME = "index.html"
MOVED = '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n<title>elrcheck</title>\n'
TO_GALLERY = f'<meta http-equiv="refresh" content="0; url={FOLDER}/{HOME}">\n'
LINK = f'<a href="{FOLDER}/{HOME}">Findings and scenarios</a>\n'


@dataclass(frozen=True)
class WrittenSite:
    """home: the page to open. left_out: what is not in the site and why; outdated: omitted recorded traces."""

    home: Path
    findings: int
    scenarios: int
    traces: int
    documents: bool
    left_out: tuple[str, ...]
    outdated: tuple[str, ...]


def write_site(out: Path, progress: Progress) -> WrittenSite:
    """Write the site into a folder; files of the same name are replaced, others stay."""
    missing = obstacle()
    progress.stage("following the traces of findings and scenarios")
    whole = gallery(documents=missing is None)
    if missing is None:
        progress.stage("building the documentation")
        with tempfile.TemporaryDirectory(prefix="elrcheck-site-") as folder:
            build_documents(Path(folder))
            shutil.copytree(folder, out, dirs_exist_ok=True)
    else:
        write_files(out, {HOME: MOVED + TO_GALLERY + LINK})
        write_files(out / FOLDER, whole.pages)
    *findings, (_, scenarios) = whole.groups
    without = [card.id for _, cards in findings for card in cards if not card.trace]
    left = [f"the documents: {missing}"] if missing is not None else []
    left += [f"a trace of {', '.join(without)}: no trace is recorded"] if without else []
    return WrittenSite(
        out / HOME,
        sum(len(cards) for _, cards in findings),
        len(scenarios),
        whole.traces,
        missing is None,
        tuple(left),
        whole.outdated,
    )
