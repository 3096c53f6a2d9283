"""What leaves: releases, by group, and descriptions."""
