"""Many configurations, each checked as a task: what it is as JSON, how large it may be, who checks it."""
