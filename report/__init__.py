"""The report objects and their renderers; renderers compute nothing."""
