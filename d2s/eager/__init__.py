"""Tensors that compute at once, on the kernels everything shares."""
