// Colours of a terminal as classes of the page: sixteen names, so that they stay readable in both themes.

import { Anser } from "./vendor/lit-anser.js";

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const LEVELS = [0, 95, 135, 175, 215, 255];

/** The pieces of a line: `[{ text, classes }]`. */
export function pieces(line) {
  if (!line.includes("\u001b")) return [{ text: line, classes: "" }];
  const found = Anser.ansiToJson(line, { json: true, remove_empty: true, use_classes: true });
  return found.map((piece) => {
    const classes = piece.decorations.map((decoration) => `ansi-${decoration}`);
    const colour = name(piece);
    if (colour) classes.push(`ansi-${colour}`);
    return { text: piece.content, classes: classes.join(" ") };
  });
}

function name(piece) {
  if (!piece.fg) return "";
  if (piece.fg === "ansi-truecolor") return nearest((piece.fg_truecolor ?? "").split(",").map(Number));
  const palette = /^ansi-palette-(\d+)$/.exec(piece.fg);
  if (palette) return nearest(rgb(Number(palette[1])));
  return piece.fg.replace("ansi-", "").replace("bright-", "");
}

function rgb(index) {
  if (index >= 232) return Array(3).fill(8 + (index - 232) * 10);
  const cube = index - 16;
  return [LEVELS[Math.floor(cube / 36) % 6], LEVELS[Math.floor(cube / 6) % 6], LEVELS[cube % 6]];
}

/** The name of the colour with the same strong channels. */
function nearest([red, green, blue]) {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  if (!(most - least > 40)) return most > 100 ? "white" : "black";
  const strong = (value) => (value - least > (most - least) / 2 ? 1 : 0);
  return NAMES[strong(red) + 2 * strong(green) + 4 * strong(blue)];
}
