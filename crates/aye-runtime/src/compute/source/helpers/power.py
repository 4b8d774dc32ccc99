def __aye_bits(n):
    n = abs(n)
    low, high = 0, 1
    while n >> high:
        low, high = high, high * 2
    while low + 1 < high:
        middle = (low + high) // 2
        if n >> middle:
            low = middle
        else:
            high = middle
    return high
def __aye_power(a, b, m=None):
    if m is not None:
        return pow(a, b, m)
    if isinstance(a, int) and isinstance(b, int) and b > 1 and abs(a) > 1:
        if b > 4194304 or __aye_bits(a) * b > 4194304:
            raise MemoryError('memory limit exceeded: the number has more than 4194304 bits')
    return a ** b
