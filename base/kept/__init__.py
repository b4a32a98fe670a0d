"""What is kept from one run to the next, and can be made again."""
