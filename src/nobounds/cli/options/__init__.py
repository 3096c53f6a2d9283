"""The options of commands, in groups that commands share."""
