// Things that a view reads once from the server, and again when it is told to.

/** What is known of `key`: `{ data, error, loading }`. Reads it the first time. */
export function load(host, key, read) {
  host.ui.loaded ??= new Map();
  const known = host.ui.loaded.get(key);
  if (known) return known;
  const entry = { data: null, error: null, loading: true };
  host.ui.loaded.set(key, entry);
  read().then((data) => {
    entry.data = data;
  }, (error) => {
    entry.error = error;
  }).finally(() => {
    entry.loading = false;
    host.refresh();
  });
  return entry;
}

/** Forgets what was read under keys that begin like this. */
export function reload(host, prefix) {
  for (const key of [...(host.ui.loaded?.keys() ?? [])]) if (key.startsWith(prefix)) host.ui.loaded.delete(key);
  host.refresh();
}
