"""What the studio gives: answers on a shelf, their tables and charts, and files to take along."""
