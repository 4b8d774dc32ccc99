// Signing in. A link carries its secret behind `#`, where no server, proxy or log sees it; the page
// redeems it once and keeps its half of the session in the storage of this origin.

const KEY = "aye.secret";

/** This browser's half of the session; the other is a cookie that no script can read. */
export function secret() {
  return localStorage.getItem(KEY);
}

export function forget() {
  localStorage.removeItem(KEY);
}

/** The secret of a sign-in link, taken out of the address at once. */
export function takeLink() {
  const found = /^#signin=([A-Za-z0-9_-]+)$/.exec(location.hash);
  if (!found) return null;
  history.replaceState(null, "", `${location.pathname}#/inbox`);
  return found[1];
}

/** Redeems a link. */
export async function redeem(link) {
  const response = await fetch("/api/v1/session", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ link }),
  });
  const body = await response.json();
  if (!response.ok) throw Object.assign(new Error(body.detail ?? response.statusText), { hint: body.hint });
  localStorage.setItem(KEY, body.secret);
}
