// Fields of a body in a table: name, type, rules, meaning; containers as indented rows.
import { html, prose, type Html } from '../../pages/html.ts';
import { fieldsOf, type JsonSchema } from '../document.ts';
import type { Direction } from '../schema.ts';
import { rulesOf, typeOf } from '../words.ts';

/** Makes the table; undefined for a schema without fields. Requests mark required fields, answers optional ones. */
export function fieldsTable(schema: JsonSchema, direction: Direction): Html | undefined {
  const rows = rowsOf(schema, '', direction);
  if (rows.length === 0) return undefined;
  return html`<div class="wide" tabindex="0">
    <table>
      <thead>
        <tr>
          <th>Field</th>
          <th>Type</th>
          <th>Meaning</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

function rowsOf(schema: JsonSchema, prefix: string, direction: Direction): Html[] {
  const required = new Set(schema.required);
  return Object.entries(fieldsOf(schema)).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const inner = innerOf(field);
    const presence = direction === 'input' ? (required.has(name) ? ['required'] : []) : required.has(name) ? [] : ['may be absent'];
    const rules = [...presence, ...rulesOf(field)];
    return [
      html`<tr>
        <td><code>${path}</code></td>
        <td class="quiet">${typeOf(field)}</td>
        <td>${prose(field.description ?? '')} ${rules.length === 0 ? undefined : html`<span class="quiet">${rules.join('; ')}.</span>`}</td>
      </tr>`,
      ...(inner === undefined ? [] : rowsOf(inner.schema, `${path}${inner.separator}`, direction)),
    ];
  });
}

/** The schema inside a container, a list of containers, or a map of them. */
function innerOf({
  items,
  additionalProperties: values,
  ...field
}: JsonSchema): { readonly schema: JsonSchema; readonly separator: string } | undefined {
  if (hasFields(field)) return { schema: field, separator: '/' };
  if (items !== undefined && hasFields(items)) return { schema: items, separator: '[]/' };
  return typeof values === 'object' && hasFields(values) ? { schema: values, separator: '/*/' } : undefined;
}

function hasFields(schema: JsonSchema): boolean {
  return Object.keys(fieldsOf(schema)).length > 0;
}
