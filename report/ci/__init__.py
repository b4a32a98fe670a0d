"""Reports for CI: JUnit, SARIF, GitHub annotations, Markdown."""
