// A new question is noticed: in the title, on the icon, by a sound, and as a notification of the browser.

import { ownTitle, plain } from "./text.js";

/** Keeps title and icon in step with the number of open questions. */
export function showCount(count, view) {
  const title = `${count > 0 ? `(${count}) ` : ""}${plain(view)} · Aye`;
  if (document.title !== title) document.title = title;
  const icon = document.getElementById("icon");
  const href = count > 0 ? badge(count) : "/assets/favicon.svg";
  if (icon && icon.getAttribute("href") !== href) icon.setAttribute("href", href);
}

function badge(count) {
  const words = count > 9 ? "9+" : String(count);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0f172a"/>`
    + `<path d="M5 15l5 5 9-10" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/>`
    + `<circle cx="22" cy="22" r="10" fill="#b45309"/>`
    + `<text x="22" y="26.5" font-family="sans-serif" font-size="${words.length > 1 ? 11 : 13}" font-weight="700" fill="#fff" text-anchor="middle">${words}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** What a person wants to hear and see; kept in this browser. */
export const wishes = {
  get sound() {
    return localStorage.getItem("aye.sound") === "on";
  },
  set sound(on) {
    localStorage.setItem("aye.sound", on ? "on" : "off");
    // What it sounds like; and a browser plays nothing before a click.
    if (on) chime();
  },
  get notifications() {
    return localStorage.getItem("aye.notifications") === "on" && globalThis.Notification?.permission === "granted";
  },
};

/** Turns notifications on, if the person allows it, or off. */
export async function setNotifications(on) {
  if (!on || !("Notification" in globalThis)) {
    localStorage.setItem("aye.notifications", "off");
    return false;
  }
  const allowed = (await Notification.requestPermission()) === "granted" && notify("Aye", "New questions look like this.", "aye") !== null;
  localStorage.setItem("aye.notifications", allowed ? "on" : "off");
  return allowed;
}

/** Shows a notification. A browser of a phone has none that a page could show: then `null`. */
function notify(title, body, tag) {
  try {
    return new Notification(title, { body, tag });
  } catch {
    return null;
  }
}

const shown = new Map();

/** Tells of a question that has just been asked. */
export function announce(question, open) {
  if (wishes.sound) chime();
  if (!wishes.notifications || document.visibilityState === "visible") return;
  const notification = notify(plain(ownTitle(question) || "Aye asks"), plain(question.message).slice(0, 200), question.id);
  if (!notification) return;
  notification.onclick = () => {
    window.focus();
    open(question);
    notification.close();
  };
  shown.set(question.id, notification);
}

/** Takes the notification of a question away: it is decided. */
export function withdraw(id) {
  shown.get(id)?.close();
  shown.delete(id);
}

let audio;

function chime() {
  try {
    audio ??= new AudioContext();
    const start = audio.currentTime;
    for (const [at, frequency] of [[0, 660], [0.16, 880]]) {
      const tone = audio.createOscillator();
      const volume = audio.createGain();
      tone.frequency.value = frequency;
      volume.gain.setValueAtTime(0.0001, start + at);
      volume.gain.exponentialRampToValueAtTime(0.12, start + at + 0.02);
      volume.gain.exponentialRampToValueAtTime(0.0001, start + at + 0.3);
      tone.connect(volume).connect(audio.destination);
      tone.start(start + at);
      tone.stop(start + at + 0.32);
    }
  } catch {
    // A browser without sound shows the question all the same.
  }
}
