"""What each verb of the command line does: a request in, a report out. Also the Python interface."""
