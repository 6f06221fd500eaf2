"""What runs on the driver: planning, the loop of a job, DataFrames of a batch, the checkpoint."""
