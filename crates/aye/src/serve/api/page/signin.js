// Redeems the link that the page was opened with. The cookie that comes back is
// one half of the session; the other half belongs to this origin alone.
const KEY = "aye.secret";
const status = document.getElementById("status");

async function signIn(link) {
  const response = await fetch("/api/v1/session", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ link }),
  });
  const told = await response.json();
  if (!response.ok) {
    throw new Error(told.detail);
  }
  localStorage.setItem(KEY, told.secret);
}

async function who() {
  const secret = localStorage.getItem(KEY) ?? "";
  const response = await fetch("/api/v1/session", { headers: { "X-Aye-Secret": secret } });
  return response.ok ? response.json() : null;
}

try {
  const link = new URLSearchParams(location.hash.slice(1)).get("signin");
  if (link) {
    // Nobody who looks at the address later finds it there.
    history.replaceState(null, "", location.pathname);
    await signIn(link);
  }
  const you = await who();
  status.textContent = you
    ? `Signed in as ${you.name}.`
    : "You are not signed in. Run `aye serve open`, or ask for a link.";
} catch (error) {
  status.textContent = `Signing in failed: ${error.message}`;
}
