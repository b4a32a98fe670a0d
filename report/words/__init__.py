"""Audits and assessments in words, which text, pages and CI formats share."""
