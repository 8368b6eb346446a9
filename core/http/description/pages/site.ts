// The pages of the description: a start page, one for each group, the error codes, and the results of a search.
import { html, prose, type Html } from '../../pages/html.ts';
import { fieldsOf, inlineDocument, successesOf, type JsonSchema, type OpenApiDocument } from '../document.ts';
import { firstOf } from './examples.ts';
import { docsPath, entriesOf, linkTo, renderFrame, titleOf, type Entry } from './frame.ts';
import { operationArticle } from './operation.ts';

/** Searchable texts of an operation or an error code. */
type Findable = { readonly link: Html; readonly summary: string; readonly weighty: string; readonly text: string };

const mostFound = 60;

/** The pages as text. */
export class DocsSite {
  readonly #document: OpenApiDocument;
  readonly #entries: readonly Entry[];
  #findable: readonly Findable[] | undefined;

  constructor(description: OpenApiDocument) {
    const document = inlineDocument(description);
    this.#document = { ...document, tags: document.tags.toSorted((left, right) => (left.name < right.name ? -1 : 1)) };
    this.#entries = entriesOf(this.#document);
  }

  get groups(): readonly string[] {
    return this.#document.tags.map(({ name }) => name);
  }

  start(): string {
    const { info, tags } = this.#document;
    const main = html`<h1>${info.title} API</h1>
      <p>${info.summary}</p>
      <p>
        JSON in and out. Send the token as <code>Authorization: Bearer …</code>. Refusals are RFC 9457 documents, and their
        <code>code</code> is the contract: <a href="${docsPath}/errors">all codes and how to mend them</a>. The same as data, for generators
        of clients: <a href="/v1/openapi.json">/v1/openapi.json</a>.
      </p>
      ${tags.map(
        ({ name, description }) =>
          html`<section>
            <h2><a href="${docsPath}/${name}">${titleOf(name)}</a></h2>
            <p>${prose(description)}</p>
            <ul class="operations">
              ${this.#entriesOf(name).map((entry) => html`<li>${linkTo(entry)} <span class="quiet">${entry.operation.summary}</span></li>`)}
            </ul>
          </section>`,
      )}`;
    return renderFrame(this.#document, { title: 'Overview', main });
  }

  group(name: string): string {
    const description = this.#document.tags.find((tag) => tag.name === name)?.description ?? '';
    const entries = this.#entriesOf(name);
    const main = html`<h1>${titleOf(name)}</h1>
      <p>${prose(description)}</p>
      <ul class="operations">
        ${entries.map((entry) => html`<li>${linkTo(entry)} <span class="quiet">${entry.operation.summary}</span></li>`)}
      </ul>
      ${entries.map((entry) => operationArticle(entry, this.#document))}`;
    return renderFrame(this.#document, { title: titleOf(name), present: name, main });
  }

  errors(): string {
    const rows = Object.entries(this.#document['x-errors']).toSorted(([left], [right]) => (left < right ? -1 : 1));
    const main = html`<h1>error codes</h1>
      <p>
        A code is never reused and never changes its status. The request id of a refusal finds it in the audit trail and in
        <code>system:logs</code>.
      </p>
      <div class="wide" tabindex="0">
        <table>
          <thead>
            <tr>
              <th scope="col">Code</th>
              <th scope="col">Status</th>
              <th scope="col">When</th>
              <th scope="col">What to do</th>
            </tr>
          </thead>
          <tbody>
            ${rows.map(
              ([code, { status, when, detail }]) =>
                html`<tr id="${code}">
                  <td><code>${code}</code></td>
                  <td>${status}</td>
                  <td>${prose(when)}</td>
                  <td>${prose(detail)}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>`;
    return renderFrame(this.#document, { title: 'error codes', present: 'errors', main });
  }

  /** Finds operations and error codes with every word of the text; those with the words in their names first. */
  find(text: string): string {
    const words = text
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '');
    const has = (where: string): boolean => words.every((word) => where.includes(word));
    this.#findable ??= [...this.#entries.map(findableEntry), ...Object.entries(this.#document['x-errors']).map(findableError)];
    const found = words.length === 0 ? [] : this.#findable.filter((one) => has(one.text));
    const ranked = found.toSorted((left, right) => Number(has(right.weighty)) - Number(has(left.weighty))).slice(0, mostFound);
    const count = `${found.length} ${found.length === 1 ? 'result' : 'results'}${found.length > mostFound ? `, the first ${mostFound} of them` : ''}`;
    const main = html`<h1>Find</h1>
      <p role="status">${words.length === 0 ? 'Type what you look for.' : count}</p>
      <ul class="operations">
        ${ranked.map(({ link, summary }) => html`<li>${link} <span class="quiet">${summary}</span></li>`)}
      </ul>`;
    return renderFrame(this.#document, { title: 'Find', text, main });
  }

  #entriesOf(group: string): readonly Entry[] {
    return this.#entries.filter(({ operation }) => operation.tags[0] === group);
  }
}

function findableEntry(entry: Entry): Findable {
  const { method, path, operation } = entry;
  const { operationId, summary, description, parameters, requestBody } = operation;
  const schemas = [requestBody?.content, ...successesOf(operation).map(([, { content }]) => content)].flatMap(
    (content) => firstOf(content)[1]?.schema ?? [],
  );
  const weighty = [operationId, method, path, summary].join(' ').toLowerCase();
  const rest = [description, ...parameters.map(({ name }) => name), ...schemas.flatMap(wordsOf)].join(' ').toLowerCase();
  return { link: linkTo(entry), summary, weighty, text: `${weighty} ${rest}` };
}

function findableError([code, { when, detail }]: readonly [string, { readonly when: string; readonly detail: string }]): Findable {
  const link = html`<a class="operation" href="${docsPath}/errors#${code}"><span class="method">error</span> <code>${code}</code></a>`;
  return { link, summary: when, weighty: code, text: `${code} ${when} ${detail}`.toLowerCase() };
}

/** Names and descriptions of all fields. */
function wordsOf(schema: JsonSchema): readonly string[] {
  const { items, additionalProperties: values } = schema;
  return [
    ...Object.entries(fieldsOf(schema)).flatMap(([name, field]) => [name, field.description ?? '', ...wordsOf(field)]),
    ...(items === undefined ? [] : wordsOf(items)),
    ...(typeof values === 'object' ? wordsOf(values) : []),
  ];
}
