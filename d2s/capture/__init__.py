"""Running a rewritten function once on symbolic values: what comes in, what is recorded, what must hold for it to be reused."""
