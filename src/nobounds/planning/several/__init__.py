"""What several statistics that are asked for together will get: a summary of columns, or a list of them."""
