"""The command line, maxmargin."""
