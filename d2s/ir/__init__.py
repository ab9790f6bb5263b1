"""The graph: Values, Nodes and Programs, their text form and the verifier."""
