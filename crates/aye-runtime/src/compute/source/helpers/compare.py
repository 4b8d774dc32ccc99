def __aye_is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)
def __aye_number(value):
    try:
        return float(value) if isinstance(value, str) else None
    except ValueError:
        return None
def __aye_reads_as(text, number):
    return __aye_is_number(number) and __aye_number(text) == number
def __aye_unlike(a, b):
    if __aye_reads_as(a, b) or __aye_reads_as(b, a):
        return True
    pairs = []
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and len(a) == len(b):
        pairs = list(zip(a, b))
    elif isinstance(a, (dict, set, frozenset)) and isinstance(b, (dict, set, frozenset)) and len(a) == len(b):
        for key in a:
            other = [key] if key in b else [one for one in b if one not in a and __aye_unlike(key, one)]
            if not other:
                return False
            pairs.append((key, other[0]))
            if isinstance(a, dict) and isinstance(b, dict):
                pairs.append((a[key], b[other[0]]))
    different = [(x, y) for x, y in pairs if x != y]
    return bool(different) and all([__aye_unlike(x, y) for x, y in different])
def __aye_cast(source, text):
    if source.startswith(("'", '"')):
        return text.strip()
    try:
        int(text)
    except ValueError:
        return f'float({source})'
    return f'int({source})'
def __aye_refuse(left, a, sign, right, b):
    if sign in ('in', 'not in') and isinstance(a, str):
        write = f'`{__aye_cast(left, a)} {sign} {right}`'
    elif sign in ('in', 'not in') and __aye_is_number(a):
        write = f'`str({left}) {sign} {right}`'
    elif isinstance(a, str) and __aye_is_number(b):
        write = f'`{__aye_cast(left, a)} {sign} {right}`'
    elif isinstance(b, str) and __aye_is_number(a):
        write = f'`{left} {sign} {__aye_cast(right, b)}`'
    else:
        write = '`float(x)` or `str(x)` for each item'
    raise TypeError(f'`{left} {sign} {right}` compares text with a number; write {write}')
def __aye_holds(left, a, sign, right, b):
    if sign == 'is':
        return a is b
    if sign == 'is not':
        return a is not b
    if sign in ('in', 'not in'):
        if not isinstance(b, (str, bytes, list, tuple, dict, set, frozenset, range)):
            b = list(b)
        if a in b:
            return sign == 'in'
        if isinstance(b, range):
            near = __aye_number(a) in b
        else:
            near = not isinstance(b, (str, bytes)) and any([__aye_unlike(a, one) for one in b])
        if near:
            __aye_refuse(left, a, sign, right, b)
        return sign == 'not in'
    if sign in ('==', '!='):
        if __aye_unlike(a, b):
            __aye_refuse(left, a, sign, right, b)
        return (a == b) == (sign == '==')
    if isinstance(a, str) and __aye_is_number(b) or isinstance(b, str) and __aye_is_number(a):
        __aye_refuse(left, a, sign, right, b)
    if sign == '<':
        return a < b
    if sign == '<=':
        return a <= b
    if sign == '>':
        return a > b
    return a >= b
def __aye_compare(left, a, *rest):
    for at in range(0, len(rest), 3):
        sign, right, b = rest[at:at + 3]
        if at:
            b = b()
        if not __aye_holds(left, a, sign, right, b):
            return False
        left, a = right, b
    return True
