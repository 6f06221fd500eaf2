"""Rules about a table's options and columns: one function a rule, each raises one named condition."""
