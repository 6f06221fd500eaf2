"""What a job tells of itself: names and meanings (`declarations`), values (`job_metrics`), and ways to get at them."""
