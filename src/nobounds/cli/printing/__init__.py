"""Tables and lines on the standard output, in a pipe and on a terminal."""
