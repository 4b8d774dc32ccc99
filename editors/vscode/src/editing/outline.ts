// What a skill file defines, and where: pure. A file that does not parse is read as far as it goes.

import { isMap, isScalar, isSeq, parseDocument, type Node, type Pair, type Scalar, type YAMLMap } from "yaml";

export interface Span {
  start: number;
  end: number;
}

export interface Definition extends Span {
  kind: "state" | "step" | "output" | "input" | "variable";
  name: string;
}

export interface SkillOutline extends Span {
  /** As it is written; a file with one skill may leave it out. */
  name: string | null;
  /** Where its first line is. */
  at: number;
  definitions: Definition[];
}

const TARGETS = new Set(["on_success", "on_failure", "on_timeout", "on_declined", "on_cancelled", "initial", "next", "to"]);
const PARTS = new Set(["steps", "states", "workflows"]);

/** The skills of a file: one, or several under `workflows`. None if it is another kind of file. */
export function outline(text: string): SkillOutline[] {
  const root = contents(text);
  if (!isMap(root) || !root.items.some((pair) => PARTS.has(keyOf(pair)))) return [];
  const workflows = valueOf(root, "workflows");
  if (isMap(workflows)) {
    return workflows.items.filter((pair) => isMap(pair.value)).map((pair) => {
      const start = spanOf(pair.key as Node)?.start ?? 0;
      return { ...skillOf(pair.value as YAMLMap), name: keyOf(pair), at: start, start };
    });
  }
  const first = root.items.find((pair) => keyOf(pair) === "name") ?? root.items[0];
  return [{ ...skillOf(root), name: textOf(valueOf(root, "name")), at: spanOf(first?.key as Node)?.start ?? 0, start: 0, end: text.length }];
}

/** How `aye` is told of a skill of a file: by the file, and of several skills by name too. */
export function targetOf(file: string, text: string, skill: string | null): string {
  const names = outline(text).map(({ name }) => name);
  return names.length < 2 ? file : `${file}#${names.includes(skill) ? skill : names[0]}`;
}

function contents(text: string): unknown {
  return parseDocument(text, { strict: false, uniqueKeys: false, logLevel: "silent" }).contents;
}

function skillOf(map: YAMLMap): SkillOutline {
  const definitions: Definition[] = [];
  collect(map, definitions);
  const span = spanOf(map) ?? { start: 0, end: 0 };
  return { name: null, at: span.start, ...span, definitions };
}

function collect(map: YAMLMap, into: Definition[]): void {
  const add = (kind: Definition["kind"], node: unknown): void => {
    const name = textOf(node);
    const span = spanOf(node as Node);
    if (name !== null && span) into.push({ kind, name, ...span });
  };
  const inputs = valueOf(map, "inputs");
  if (isSeq(inputs)) for (const one of inputs.items) if (isMap(one)) add("input", valueOf(one, "name"));
  const states = valueOf(map, "states");
  if (isMap(states)) {
    for (const pair of states.items) {
      add("state", pair.key);
      if (isMap(pair.value)) step(pair.value, into, add);
    }
  }
  for (const part of ["steps", "then", "finally", "else"]) {
    const steps = valueOf(map, part);
    if (!isSeq(steps)) continue;
    for (const one of steps.items) {
      if (!isMap(one)) continue;
      add("step", valueOf(one, "name"));
      step(one, into, add);
    }
  }
}

function step(map: YAMLMap, into: Definition[], add: (kind: Definition["kind"], node: unknown) => void): void {
  add("output", valueOf(map, "output"));
  add("variable", valueOf(map, "as"));
  collect(map, into);
}

/** Where the name at an offset is defined. `skill: NAME` names another file. */
export function definitionAt(text: string, offset: number): { definition: Definition } | { skill: string } | null {
  const here = outline(text).find((one) => one.start <= offset && offset <= one.end);
  if (!here) return null;
  const find = (name: string, ...kinds: Definition["kind"][]): { definition: Definition } | null => {
    for (const kind of kinds) {
      const definition = here.definitions.find((one) => one.kind === kind && one.name === name);
      if (definition) return { definition };
    }
    return null;
  };
  const scalar = scalarAt(contents(text), offset, []);
  const whole = scalar ? textOf(scalar.node) : null;
  const [key, parent] = [scalar?.keys.at(-1), scalar?.keys.at(-2)];
  if (whole !== null && key !== undefined && (TARGETS.has(key) || parent === "transitions")) return find(whole, "state");
  if (whole !== null && key === "skill") return { skill: whole };
  const before = /[\w.-]*$/.exec(text.slice(0, offset))?.[0] ?? "";
  const after = /^[\w-]*/.exec(text.slice(offset))?.[0] ?? "";
  const words = `${before}${after}`.split(".");
  if (words[0] === "inputs" && words.length > 1) return find(words[1] ?? "", "input");
  const name = words[words[0] === "steps" && words.length > 1 ? 1 : 0] ?? "";
  return find(name, "output", "variable", "step", "state");
}

function scalarAt(node: unknown, offset: number, keys: string[]): { node: Scalar; keys: string[] } | null {
  const span = spanOf(node as Node);
  if (!span || offset < span.start || offset > span.end) return null;
  if (isScalar(node)) return { node, keys };
  if (isSeq(node)) {
    for (const one of node.items) {
      const found = scalarAt(one, offset, keys);
      if (found) return found;
    }
  }
  if (isMap(node)) {
    for (const pair of node.items) {
      const found = scalarAt(pair.value, offset, [...keys, keyOf(pair)]);
      if (found) return found;
    }
  }
  return null;
}

function valueOf(map: YAMLMap, name: string): unknown {
  return map.items.find((pair) => keyOf(pair) === name)?.value;
}

function keyOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : "";
}

function textOf(node: unknown): string | null {
  return isScalar(node) && node.value !== null ? String(node.value) : null;
}

function spanOf(node: Node | null | undefined): Span | null {
  return node?.range ? { start: node.range[0], end: node.range[1] } : null;
}
