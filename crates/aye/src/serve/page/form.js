// A form from a JSON schema, and its values.

import { html, nothing } from "./vendor/lit-anser.js";
import { plain, visible } from "./text.js";

/** The fields of an object's schema. `wrong` has a message for a name. */
export function fields(schema, prefix, wrong = {}) {
  const required = new Set(schema?.required ?? []);
  const properties = Object.entries(schema?.properties ?? {});
  return properties.map(([name, about]) => field(name, about, required.has(name), `${prefix}-${name}`, wrong[name]));
}

function field(name, about, required, id, wrong) {
  const noteId = `${id}-about`;
  const note = [about.description, about.pattern ? `must match ${about.pattern}` : ""].filter(Boolean).join(" · ");
  const described = note || wrong ? noteId : nothing;
  return html`<div class="field">
    <label for=${id}>${visible(name)}${required ? html` <span class="ask">required</span>` : ""}</label>
    ${control(name, about, required, id, described, wrong)}
    ${note || wrong ? html`<span class="about" id=${noteId}>${visible(note)}${wrong ? html` <span class="wrong">${visible(wrong)}</span>` : ""}</span>` : ""}
  </div>`;
}

function control(name, about, required, id, described, wrong) {
  const invalid = wrong ? "true" : nothing;
  const start = about.default;
  if (about.enum) {
    return html`<select id=${id} name=${name} ?required=${required} aria-describedby=${described} aria-invalid=${invalid}>
      ${required && start !== undefined ? "" : html`<option value="">${required ? "choose…" : "(not given)"}</option>`}
      ${about.enum.map((one, at) => html`<option value=${at} ?selected=${one === start}>${plain(text(one))}</option>`)}
    </select>`;
  }
  switch (about.type) {
    case "boolean":
      return html`<select id=${id} name=${name} ?required=${required} aria-describedby=${described}>
        ${required ? "" : html`<option value="">(not given)</option>`}
        <option value="true" ?selected=${start === true}>true</option>
        <option value="false" ?selected=${start === false}>false</option>
      </select>`;
    case "integer":
    case "number":
      return html`<input id=${id} name=${name} type="number" step=${about.type === "integer" ? "1" : "any"} ?required=${required}
        value=${start ?? ""} aria-describedby=${described} aria-invalid=${invalid}>`;
    case "array":
    case "object":
      return html`<textarea id=${id} name=${name} rows="3" ?required=${required} spellcheck="false" aria-describedby=${described}
        aria-invalid=${invalid} placeholder=${about.type === "array" ? "[\"one\", \"two\"]" : "{\"name\": \"value\"}"}
        .defaultValue=${start === undefined ? "" : JSON.stringify(start, null, 2)}></textarea>`;
    default:
      return about.format === "password"
        ? html`<input id=${id} name=${name} type="password" autocomplete="off" ?required=${required} aria-describedby=${described}>`
        : html`<input id=${id} name=${name} type="text" autocomplete="off" spellcheck="false" ?required=${required}
            value=${start ?? ""} aria-describedby=${described} aria-invalid=${invalid}>`;
  }
}

function text(one) {
  return typeof one === "string" ? one : JSON.stringify(one);
}

/** What was filled in: `{ inputs, wrong }`; an empty field that has no default is not given. */
export function values(schema, form) {
  const inputs = {};
  const wrong = {};
  for (const [name, about] of Object.entries(schema?.properties ?? {})) {
    const given = form.elements.namedItem(name)?.value ?? "";
    if (given === "" && !(about.type === "string" && about.default)) continue;
    if (about.enum) inputs[name] = about.enum[Number(given)];
    else if (about.type === "boolean") inputs[name] = given === "true";
    else if (about.type === "integer" || about.type === "number") inputs[name] = Number(given);
    else if (about.type === "array" || about.type === "object") {
      try {
        inputs[name] = JSON.parse(given);
      } catch (error) {
        wrong[name] = `not valid JSON: ${error.message}`;
      }
    } else inputs[name] = given;
  }
  return { inputs, wrong };
}
