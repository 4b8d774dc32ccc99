import json as __aye_json
def __aye_plain(o, default):
    if o is None or isinstance(o, (str, int, float, bool)):
        return o
    if isinstance(o, dict):
        return {k: __aye_plain(v, default) for k, v in o.items()}
    if isinstance(o, (list, tuple)):
        return [__aye_plain(v, default) for v in o]
    return __aye_plain(default(o), default)
def __aye_dumps(o, default=None, **named):
    if default is not None:
        o = __aye_plain(o, default)
    return __aye_json.dumps(o, **named)
