"""The modelling language: decorated Python source, read once into a typed IR."""
