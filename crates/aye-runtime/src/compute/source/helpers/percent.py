import re as __aye_re
def __aye_percent(text, values):
    named = isinstance(values, dict)
    left = [] if named else list(values) if isinstance(values, tuple) else [values]
    done, parts = 0, []
    for m in __aye_re.finditer(r'%(?:\((\w+)\))?([-0+ #]*)(\d*)(\.\d+)?([a-zA-Z%])', text):
        parts.append(text[done:m.start()])
        done = m.end()
        key, flags, width, digits, kind = m.groups()
        if kind == '%':
            parts.append('%')
            continue
        if key is None and not left:
            raise TypeError('not enough arguments for format string')
        value = values[key] if key is not None else left.pop(0)
        align = '<' if '-' in flags else '>'
        if kind in 'sra':
            value = str(value) if kind == 's' else repr(value)
            if digits:
                value = value[:int(digits[1:])]
            parts.append(f'{value:{align + width}}' if width else value)
            continue
        sign = '+' if '+' in flags else ' ' if ' ' in flags else ''
        zero = '0' if '0' in flags and '-' not in flags else ''
        if kind in 'diu':
            value, digits, kind = int(value), '', 'd'
        elif kind not in 'eEfFgGxXo':
            raise ValueError(f"unsupported format character '{kind}'")
        elif kind not in 'xXo':
            value = float(value)
        spec = ('' if zero or not width else align) + sign + zero + width + (digits or '') + kind
        parts.append(f'{value:{spec}}')
    if left and not named:
        raise TypeError('not all arguments converted during string formatting')
    parts.append(text[done:])
    return ''.join(parts)
