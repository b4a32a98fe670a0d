"""The command line itself: options, help, completion, settings, and a file of verbs for each topic."""
