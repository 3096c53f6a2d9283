"""What several statistics that are requested together will get: a summary of columns, or a list of them."""
