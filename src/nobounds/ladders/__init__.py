"""From values to rungs and back: public candidates."""
