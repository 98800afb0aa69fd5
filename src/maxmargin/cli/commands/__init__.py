"""One file a command, imported when it is asked for."""
