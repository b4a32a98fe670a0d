"""Verbs whose work no other needs: a request in, a report out. Also the Python interface."""
