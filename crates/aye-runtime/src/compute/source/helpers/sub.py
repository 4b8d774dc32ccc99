import re as __aye_re_sub
def __aye_sub(pattern, repl, string, count=0, flags=0):
    if isinstance(repl, str):
        return __aye_re_sub.sub(pattern, repl, string, count=count, flags=flags)
    done, parts, n = 0, [], 0
    for m in __aye_re_sub.finditer(pattern, string, flags):
        parts.append(string[done:m.start()])
        parts.append(repl(m))
        done = m.end()
        n += 1
        if n == count:
            break
    parts.append(string[done:])
    return ''.join(parts)
