def __aye_looks_like(text, number):
    try:
        return float(text) == number
    except ValueError:
        return False
def __aye_compare(left, sign, right, a, b):
    for text, number in ((a, b), (b, a)):
        if isinstance(text, str) and isinstance(number, (int, float)) and not isinstance(number, bool):
            if sign not in ('==', '!=') or __aye_looks_like(text, number):
                cast = 'float' if '.' in text else 'int'
                if isinstance(a, str):
                    left_cast, right_cast = f'{cast}({left})', right
                else:
                    left_cast, right_cast = left, f'{cast}({right})'
                raise TypeError(f'`{left} {sign} {right}` compares text with a number; write `{left_cast} {sign} {right_cast}`')
    if sign == '==':
        return a == b
    if sign == '!=':
        return a != b
    if sign == '<':
        return a < b
    if sign == '<=':
        return a <= b
    if sign == '>':
        return a > b
    return a >= b
