"""One type of trace: followed by the plain model, described and explained."""
