"""Export the model and its traces as TLA+ modules."""
