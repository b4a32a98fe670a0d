"""Many configurations, each checked as a task: its form as JSON, its estimated size, the pool that checks it."""
