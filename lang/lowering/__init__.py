"""The IR, specialised to a configuration and unrolled, as a graph over packed leaves."""
