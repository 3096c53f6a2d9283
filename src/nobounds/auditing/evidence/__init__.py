"""Evidence: what an outcome of a decision tells about which of two neighbouring data sets it was made on."""
