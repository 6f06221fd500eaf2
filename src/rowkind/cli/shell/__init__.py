"""`rowkind sql`: a shell. The prompt is there at once; Spark starts behind it."""
