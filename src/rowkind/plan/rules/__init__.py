"""Rules that make a bound plan complete: each a pure function from plan to plan."""
