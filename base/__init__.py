"""What every room may use: errors, strict reading, atomic files, locks, requests, progress, Java."""
