def __aye_hasattr(o, k):
    if isinstance(o, dict):
        return k in o or k in ('get', 'items', 'keys', 'values', 'pop', 'update', 'copy', 'setdefault', 'clear')
    if isinstance(o, str):
        return k in ('lower', 'upper', 'strip', 'split', 'join', 'startswith', 'endswith', 'replace', 'encode', 'format', 'splitlines')
    if isinstance(o, list):
        return k in ('append', 'extend', 'pop', 'sort', 'insert', 'remove', 'index', 'count', 'reverse', 'clear', 'copy')
    return hasattr(o, k)
