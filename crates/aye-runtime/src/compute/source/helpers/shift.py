def __aye_shift(a, b):
    if isinstance(a, int) and isinstance(b, int) and a and b > 4194304:
        raise MemoryError('memory limit exceeded: the number has more than 4194304 bits')
    return a << b
