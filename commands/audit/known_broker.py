"""What a metadata log says of a broker that a partition names, and the model's registration for it."""

from __future__ import annotations

from typing import NamedTuple

from elrcheck.model.state import Directory, Registration


class KnownBroker(NamedTuple):
    """What the controller knows of a broker that a partition names."""

    registered: bool = False
    fenced: bool = True
    in_controlled_shutdown: bool = False
    online: bool = True

    @property
    def registration(self) -> Registration:
        return Registration(
            registered=self.registered,
            fenced=self.fenced,
            in_controlled_shutdown=self.in_controlled_shutdown,
            shutdown_offset=0,
            epoch=1,
            directory=Directory.ONLINE if self.online else Directory.OFFLINE,
        )
