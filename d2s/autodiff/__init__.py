"""Gradients: one reverse step written in ops, used by the eager tape and by gradient Programs."""
