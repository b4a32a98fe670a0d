"""The notation of recipes: the file, its steps, and the reports of its runs."""
