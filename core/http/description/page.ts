// GET /v1/docs: the API description as one page, without scripts or external resources.
import { Html, html, prose } from '../pages/html.ts';
import { inlineDocument, type JsonSchema, type Operation, type OpenApiDocument } from './document.ts';
import { fieldsTable } from './page-fields.ts';
import { pageStyle, pageStyleHash } from './page-style.ts';
import { exampleOf } from './schema.ts';

/** With `nosniff` and `no-store`, which every answer has. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src '${pageStyleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
};

type Entry = { readonly method: string; readonly path: string; readonly operation: Operation };

/** The page: operations by tag, each folded until it is opened. */
export function renderPage(description: OpenApiDocument): string {
  const document = inlineDocument(description);
  const entries: Entry[] = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const tags = [...new Set(entries.map(({ operation }) => operation.tags[0] ?? ''))];
  const { info, 'x-errors': errors } = document;
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>API · ${info.title}</title>
        ${Html.join([`<style>${pageStyle}</style>`], [])}
      </head>
      <body>
        <nav aria-label="Sections">
          <strong>${info.title} API</strong>
          ${tags.map((tag) => html`<a href="#${anchor(tag)}">${tag}</a>`)}
          <a href="#errors">errors</a>
        </nav>
        <main>
          <h1>${info.title} API</h1>
          <p>${info.summary}</p>
          <p>
            JSON in and out. Send the token as <code>Authorization: Bearer …</code>. Refusals are RFC 9457 documents, and their
            <code>code</code> is the contract. The same as data: <a href="/v1/openapi.json">/v1/openapi.json</a>.
          </p>
          ${tags.map((tag) => section(tag, entries))}
          <h2 id="errors">errors</h2>
          <div class="wide">
            <table>
              <thead>
                <tr>
                  <th>Code</th>
                  <th>Status</th>
                  <th>When</th>
                </tr>
              </thead>
              <tbody>
                ${Object.entries(errors)
                  .toSorted(([left], [right]) => (left < right ? -1 : 1))
                  .map(
                    ([code, { status, when }]) =>
                      html`<tr id="error-${code}">
                        <td><code>${code}</code></td>
                        <td>${status}</td>
                        <td>${prose(when)}</td>
                      </tr>`,
                  )}
              </tbody>
            </table>
          </div>
        </main>
      </body>
    </html> `;
  return page.markup;
}

function section(tag: string, entries: readonly Entry[]): Html {
  const own = entries.filter(({ operation }) => operation.tags[0] === tag);
  return html`<h2 id="${anchor(tag)}">${tag}</h2>
    ${own.map((entry) => operationBox(entry))}`;
}

function operationBox({ method, path, operation }: Entry): Html {
  const { operationId, summary, description, parameters, requestBody, responses } = operation;
  const [mediaType, body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const input = body?.schema;
  const output = answerOf(responses);
  const command = spelled(operation, path);
  return html`<details id="${operationId}">
    <summary>
      <span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code> <span class="quiet">${summary}</span>
    </summary>
    ${description === summary ? undefined : html`<p>${prose(description)}</p>`}
    <p class="quiet">
      ${operation['x-operation'] === undefined ? 'Needs no token.' : html`Policies call this <code>${operation['x-operation']}</code>.`}
    </p>
    ${
      parameters.length === 0
        ? undefined
        : html`<h3>Parameters</h3>
            ${parametersTable(parameters)}`
    }
    ${
      input === undefined
        ? undefined
        : html`<h3>Request</h3>
            ${fieldsTable(input, 'input') ?? html`<p>A body of type <code>${mediaType}</code>.</p>`}`
    }
    ${
      output === undefined
        ? undefined
        : html`<h3>Answer</h3>
            ${fieldsTable(output, 'output')}`
    }
    <h3>Refusals</h3>
    <ul class="codes">
      ${Object.entries(responses)
        .filter(([, response]) => response['x-codes'] !== undefined)
        .map(([status, response]) => html`<li>${status}${codeLinks(response['x-codes'] ?? [])}</li>`)}
    </ul>
    <h3>Example</h3>
    <pre>${curl(method, path, input, operation)}</pre>
    ${command === undefined ? undefined : html`<pre>${command}</pre>`}
  </details>`;
}

function codeLinks(codes: readonly string[]): Html[] {
  return codes.map((code) => html` <a href="#error-${code}"><code>${code}</code></a>`);
}

function parametersTable(parameters: Operation['parameters']): Html {
  return html`<div class="wide">
    <table>
      <tbody>
        ${parameters.map(
          ({ name, in: place, description }) =>
            html`<tr>
              <td><code>${name}</code></td>
              <td class="quiet">${place}</td>
              <td>${prose(description)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** The schema of the 2xx answer; of a list, that of its elements. */
function answerOf(responses: Operation['responses']): JsonSchema | undefined {
  const content = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1].content;
  const schema = Object.values(content ?? {})[0]?.schema;
  return schema?.items ?? schema;
}

function curl(method: string, path: string, input: JsonSchema | undefined, { parameters, security }: Operation): string {
  const examples = new Map(parameters.map(({ name, in: place, schema }) => [`${place} ${name}`, String(exampleOf(schema))]));
  const target = path.replace(/\{([^}]+)\}/g, (_, name: string) => examples.get(`path ${name}`) ?? name);
  return [
    `curl --cacert ca.pem`,
    ...(security === undefined ? [`-H "Authorization: Bearer $TOKEN"`] : []),
    ...(method === 'GET' || (method === 'POST' && input !== undefined) ? [] : [`-X ${method}`]),
    `https://127.0.0.1:4646${target}`,
    ...(input === undefined || !('properties' in input)
      ? []
      : [`-H 'Content-Type: application/json' -d '${JSON.stringify(exampleOf(input))}'`]),
  ].join(' ');
}

/** The command line of keystorectl. */
function spelled({ 'x-command': command, parameters }: Operation, path: string): string | undefined {
  if (command === undefined) return undefined;
  const names = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => `<${match[1]}>`);
  const isCreation = command.verb === 'create';
  const words = [command.verb, command.resource, ...names, ...(isCreation ? ['<name>'] : []), command.action];
  const positional = (command.positional ?? []).map((name) => `<${name}>`);
  const tree = command.tree === 'config' && parameters.some(({ name }) => name === 'fields') ? ['--config'] : [];
  return ['keystorectl', ...words.filter((word) => word !== undefined), ...positional, ...tree].join(' ');
}

function anchor(tag: string): string {
  return tag.replaceAll(' ', '-');
}
