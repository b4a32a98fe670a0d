"""`reproduce`: a finding on a real cluster."""
