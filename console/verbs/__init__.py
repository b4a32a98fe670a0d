"""The verbs of the command line, a file for each topic; they compute nothing."""
