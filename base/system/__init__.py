"""Other programs and servers, of this machine or reached from it."""
