"""`elrcheck mutate`: reintroduce known bugs, remove guards."""
