"""Report objects: plain frozen data, which `report` renders and JSON documents."""
