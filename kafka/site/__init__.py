"""`elrcheck site`: findings, scenarios and documents as a static site."""
