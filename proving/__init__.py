"""The proof by induction and that of controller events: runs, certificates, what is kept, failed steps."""
