// Keys and values of a skill file from its JSON schema: pure. The place is found by indentation, because a
// file is rarely whole while it is written.

export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  then?: Schema;
  else?: Schema;
  enum?: unknown[];
  const?: unknown;
  required?: string[];
}

export interface Place {
  /** Keys from the top; `[]` for an item of a list. */
  path: string[];
  /** Keys beside it. */
  siblings: Set<string>;
  /** The key whose value is being written; nothing where a key is. */
  value: string | null;
}

interface Line {
  dashes: number[];
  column: number;
  key: string | null;
  rest: string;
}

function read(text: string): Line | null {
  if (/^\s*(#|$)/.test(text)) return null;
  const dashes = [];
  let column = text.length - text.trimStart().length;
  while (/^-(\s|$)/.test(text.slice(column))) {
    dashes.push(column);
    column += 1 + (/^\s*/.exec(text.slice(column + 1))?.[0].length ?? 0);
  }
  const found = /^("?)([\w$.-]+)\1\s*:(?:\s+(.*))?$/.exec(text.slice(column));
  return { dashes, column, key: found?.[2] ?? null, rest: found?.[3] ?? "" };
}

/** Where a position is; `null` inside a block of text. */
export function placeAt(lines: readonly string[], row: number, column: number): Place | null {
  const text = (lines[row] ?? "").slice(0, column);
  const siblings = new Set<string>();
  const inner: string[] = [];
  let target = read(`${text}x`) ?? { dashes: [], column: text.length, key: null, rest: "" };
  let value: string | null = null;
  const brace = openBrace(text);
  if (brace >= 0) {
    const within = text.slice(brace + 1);
    for (const found of within.matchAll(/(?:^|,)\s*([\w$.-]+)\s*:/g)) siblings.add(found[1] ?? "");
    const last = within.split(",").at(-1) ?? "";
    value = /^\s*([\w$.-]+)\s*:\s+\S*$/.exec(last)?.[1] ?? null;
    const before = read(text.slice(0, brace).trimEnd());
    if (before?.key) inner.unshift(before.key);
    target = before ?? target;
  } else if (target.key !== null && /:\s/.test(text.slice(target.column))) {
    value = target.key;
  }
  const path = climb(lines, row, target, brace >= 0 ? new Set() : siblings);
  return path === null ? null : { path: [...path, ...inner], siblings, value };
}

function openBrace(text: string): number {
  const open = [];
  let quote = "";
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? "";
    if (quote) {
      if (char === quote) quote = "";
    } else if (char === "\"" || char === "'") quote = char;
    else if (char === "{" && text[at + 1] !== "{" && text[at - 1] !== "{") open.push(at);
    else if (char === "}" && text[at + 1] !== "}" && text[at - 1] !== "}") open.pop();
  }
  return quote ? -1 : open.at(-1) ?? -1;
}

/** The keys around a line, from the top. */
function climb(lines: readonly string[], row: number, from: Line, siblings: Set<string>): string[] | null {
  const path: string[] = [];
  let column = from.column;
  let isDash = false;
  let isOwn = true;
  const enter = (dashes: number[]): void => {
    for (const dash of [...dashes].reverse()) {
      path.unshift("[]");
      column = dash;
      isDash = true;
      isOwn = false;
    }
  };
  enter(from.dashes);
  for (let at = row - 1; at >= 0; at -= 1) {
    const line = read(lines[at] ?? "");
    if (!line) continue;
    if (isDash) {
      if (line.dashes.includes(column) || line.key === null || line.column > column) continue;
      path.unshift(line.key);
    } else if (line.column === column && line.key !== null) {
      if (isOwn) siblings.add(line.key);
      if (line.dashes.length === 0) continue;
    } else if (line.column < column) {
      if (line.key === null) continue;
      if (/^[|>][\d+-]*\s*$/.test(line.rest)) return null;
      path.unshift(line.key);
    } else {
      continue;
    }
    if (line.column < column || isDash) isOwn = false;
    column = line.column;
    isDash = false;
    enter(line.dashes);
    if (column === 0 && !isDash) break;
  }
  if (isOwn) for (let at = row + 1; at < lines.length; at += 1) {
    const line = read(lines[at] ?? "");
    if (!line) continue;
    if (line.column < from.column || line.dashes.length > 0) break;
    if (line.column === from.column && line.key) siblings.add(line.key);
  }
  return path;
}

/** The schemas that a place may have. */
export function schemasAt(root: Schema, path: readonly string[]): Schema[] {
  let found = spread(root, root);
  for (const key of path) {
    found = found.flatMap((schema) => {
      const next = key === "[]" ? schema.items : schema.properties?.[key] ?? (typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined);
      return next ? spread(root, next) : [];
    });
  }
  return found;
}

function spread(root: Schema, schema: Schema, depth = 0): Schema[] {
  if (depth > 8) return [];
  const name = schema.$ref?.replace("#/$defs/", "");
  const referred = name ? root.$defs?.[name] : undefined;
  const more = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? []), ...(schema.then ? [schema.then] : []), ...(schema.else ? [schema.else] : []), ...(referred ? [referred] : [])];
  return [schema, ...more.flatMap((one) => spread(root, one, depth + 1))];
}

export interface Suggestion {
  label: string;
  description: string;
  isKey: boolean;
  /** Whether what follows a key is a map, a list or a text. */
  holds: "map" | "list" | "value";
}

/** What can be written at a place. */
export function suggestions(root: Schema, place: Place): Suggestion[] {
  const schemas = schemasAt(root, place.value === null ? place.path : [...place.path, place.value]);
  const found = new Map<string, Suggestion>();
  if (place.value === null) {
    for (const schema of schemas) {
      for (const [label, about] of Object.entries(schema.properties ?? {})) {
        if (!place.siblings.has(label) && !found.has(label)) found.set(label, { label, description: describe(root, about), isKey: true, holds: holds(root, about) });
      }
    }
  } else {
    for (const schema of schemas) {
      const values = [...(schema.enum ?? []), ...("const" in schema ? [schema.const] : []), ...(types(schema).includes("boolean") ? [true, false] : [])];
      for (const value of values) {
        if (value !== null) found.set(String(value), { label: String(value), description: schema.description ?? "", isKey: false, holds: "value" });
      }
    }
  }
  return [...found.values()];
}

/** What the schema says of a key. */
export function describeKey(root: Schema, path: readonly string[], key: string): string {
  for (const schema of schemasAt(root, path)) {
    const about = schema.properties?.[key];
    if (about) return describe(root, about);
  }
  return "";
}

function describe(root: Schema, schema: Schema): string {
  return spread(root, schema).find((one) => one.description)?.description ?? "";
}

function types(schema: Schema): string[] {
  return schema.type === undefined ? [] : [schema.type].flat();
}

function holds(root: Schema, schema: Schema): Suggestion["holds"] {
  const all = spread(root, schema).flatMap(types);
  if (all.some((type) => type === "string" || type === "number" || type === "boolean" || type === "integer")) return "value";
  return all.includes("array") ? "list" : all.includes("object") ? "map" : "value";
}
