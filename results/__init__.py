"""Report objects: plain frozen data that `report` renders, also as JSON documents."""
