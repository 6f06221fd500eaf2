"""Scripts to start from; `rowkind demo` runs the first one."""
