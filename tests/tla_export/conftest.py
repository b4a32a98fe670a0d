"""TLC, for the tests that run it."""

from __future__ import annotations

import pytest

from elrcheck.base.errors import ElrError
from elrcheck.tla_export.tlc_process import TlcTools, find_tools


@pytest.fixture(scope="module")
def tools() -> TlcTools:
    try:
        return find_tools()
    except ElrError as fault:
        pytest.skip(fault.message)
