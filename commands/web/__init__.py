"""`elrcheck web`: an explorer in the browser, served on this machine only."""
