// Things that a view reads from the server: kept while they are shown, and read again when they may have changed.

/** What is known of `key`: `{ data, error, loading }`. Reads it if it was not read, or is out of date. */
export function load(host, key, read) {
  host.ui.loaded ??= new Map();
  let entry = host.ui.loaded.get(key);
  if (!entry) {
    entry = { data: null, error: null, loading: false, isOld: true };
    host.ui.loaded.set(key, entry);
  }
  if (entry.isOld && !entry.loading) {
    Object.assign(entry, { loading: true, isOld: false });
    read().then((data) => {
      Object.assign(entry, { data, error: null });
    }, (error) => {
      // What was read before is better than that the server is away, which the page says anyway.
      if (entry.data === null || error.code !== "offline") entry.error = error;
    }).finally(() => {
      entry.loading = false;
      host.refresh();
    });
  }
  return entry;
}

/** What was read under keys that begin like this is read again when it is shown next; until then it stays. */
export function outdate(host, prefix = "") {
  for (const [key, entry] of host.ui.loaded ?? []) if (key.startsWith(prefix)) entry.isOld = true;
}

/** The same, at once. */
export function reload(host, prefix) {
  outdate(host, prefix);
  host.refresh();
}

/** Everything that could not be read is tried again, and what was read may have changed. */
export function retryAll(host) {
  outdate(host);
  for (const kept of [host.ui.opened, host.ui.graphs]) {
    for (const [key, entry] of kept ?? []) if (entry.error) kept.delete(key);
  }
  if (host.ui.runs?.error) host.ui.runs = null;
}
