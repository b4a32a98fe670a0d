"""`elrcheck mutate`: known bugs put back, guards left out."""
