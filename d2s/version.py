"""Which version of d2s this is.

>>> full_version == f"{major}.{minor}.{patch}" == d2s.__version__
True
"""

full_version = "0.1.0"
major, minor, patch = full_version.split(".")
rc = "0"


def show() -> None:
    """Prints the version, and that there are no kernels for GPUs.

    >>> d2s.version.show()  # doctest: +ELLIPSIS
    full_version: ...
    """
    for name in ("full_version", "major", "minor", "patch", "rc"):
        print(f"{name}: {globals()[name]}")
    print(f"cuda: {cuda()}")


def cuda() -> str:
    """The version of CUDA the kernels are for: 'False', there are none, in Paddle's spelling.

    >>> d2s.version.cuda()
    'False'
    """
    return "False"
