"""What is no test: the script that real Paddle runs."""

collect_ignore = ["record.py"]
