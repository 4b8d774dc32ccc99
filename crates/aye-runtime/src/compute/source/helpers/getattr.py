def __aye_getattr(o, k, *default):
    if isinstance(o, dict) and k in o:
        return o[k]
    return getattr(o, k, *default)
