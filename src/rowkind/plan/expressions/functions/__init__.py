"""Flink's built-in scalar functions, declared one by one."""
