"""Shared by every room: errors, strict reading, atomic files, locks, requests, progress, Java."""
