"""Experiments on the rules and the tests themselves: changes that something must notice, lemmas, coverage."""
