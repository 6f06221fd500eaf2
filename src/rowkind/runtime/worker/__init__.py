"""What runs in Python workers of Spark: nothing here imports what runs on the driver."""
