"""The YAML job that copies tables of a database into topics: its file, its options, and pure functions over schemas.

Imports neither Spark nor a database client: what comes out is a validated, immutable description of the job.
"""
