#!/usr/bin/env python3
"""Turns a captured terminal (tmux capture-pane -e -p) on standard input into an SVG.

  tmux capture-pane -e -p | docs/picture.py [COLUMNS ROWS] > FILE.svg

As large as what it shows, or as a terminal of that size.
"""
import re
import sys
from html import escape

COLORS = {31: "#e06c75", 32: "#98c379", 33: "#e5c07b", 34: "#61afef", 35: "#c678dd", 36: "#56b6c2"}
WIDTH, LINE, PAD = 8.4, 19, 18

lines = [line.rstrip() for line in sys.stdin.read().rstrip("\n").split("\n")]
while lines and not re.sub(r"\x1b\[[0-9;]*m", "", lines[-1]).strip():
    lines.pop()
columns = max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in lines)
columns, rows = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (columns, len(lines))
w, h = columns * WIDTH + 2 * PAD, rows * LINE + 2 * PAD + 8

print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{w:.0f}" height="{h}" viewBox="0 0 {w:.0f} {h}">')
print(f'<rect width="{w:.0f}" height="{h}" rx="8" fill="#1e222a"/>')
print('<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" '
      'fill="#d7dae0" xml:space="preserve">')
# tmux says only what changes, also from line to line.
style = {"color": None, "bold": False, "dim": False}
for row, line in enumerate(lines):
    x, spans = 0, []
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        codes = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if codes:
            for code in [int(c or 0) for c in codes.group(1).split(";")]:
                if code == 0:
                    style = {"color": None, "bold": False, "dim": False}
                elif code == 1:
                    style["bold"] = True
                elif code == 2:
                    style["dim"] = True
                elif code == 22:
                    style["bold"] = style["dim"] = False
                elif code == 39:
                    style["color"] = None
                elif code in COLORS:
                    style["color"] = COLORS[code]
        elif part:
            look = f' fill="{style["color"]}"' if style["color"] else ""
            look += ' font-weight="bold"' if style["bold"] else ""
            look += ' opacity="0.55"' if style["dim"] else ""
            spans.append(f'<tspan x="{PAD + x * WIDTH:.1f}"{look}>{escape(part)}</tspan>')
            x += len(part)
    print(f'<text y="{PAD + 14 + row * LINE}">{"".join(spans)}</text>')
print("</g></svg>")
