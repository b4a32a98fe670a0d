"""`export junit`: a JUnit test of the controller's classes from a trace."""
