"""Running one op (`launch`), a Program node by node (`interpreter`) or as a plan of steps (`plan`, `executor`, `call`)."""
