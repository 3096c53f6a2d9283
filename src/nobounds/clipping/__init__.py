"""How a clip is found, and how sums and means within it are taken."""
