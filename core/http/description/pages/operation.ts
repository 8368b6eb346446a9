// One operation on the page of its group: input, answers and refusals on the left, an example of each on the right.
import { html, prose, type Html } from '../../pages/html.ts';
import { successesOf, type OpenApiDocument, type Operation } from '../document.ts';
import { answerExampleOf, answerSchemaOf, commandLineOf, curlOf, firstOf, refusalExampleOf } from './examples.ts';
import { fieldsTable } from './fields.ts';
import { docsPath, type Entry } from './frame.ts';

export function operationArticle(entry: Entry, document: OpenApiDocument): Html {
  const { method, path, operation } = entry;
  const { operationId, summary, description, parameters, requestBody } = operation;
  const [mediaType, body] = firstOf(requestBody?.content);
  const output = answerSchemaOf(operation);
  return html`<article id="${operationId}">
    <h2><a href="#${operationId}">${summary}</a></h2>
    <p class="target"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
    <div class="sides">
      <div>
        ${description === summary ? undefined : html`<p>${prose(description)}</p>`}
        <p class="quiet">${rightsOf(operation)}</p>
        ${
          parameters.length === 0
            ? undefined
            : html`<h3>Parameters</h3>
                ${parametersTable(parameters)}`
        }
        ${
          body === undefined
            ? undefined
            : html`<h3>Request</h3>
                ${fieldsTable(body.schema, 'input') ?? html`<p>A body of type <code>${mediaType}</code>.</p>`}`
        }
        ${
          output === undefined
            ? undefined
            : html`<h3>Answer</h3>
                ${fieldsTable(output, 'output') ?? html`<p>A body of type <code>${answerTypeOf(operation)}</code>.</p>`}`
        }
        <h3>Refusals</h3>
        <ul class="codes">
          ${refusals(operation, document)}
        </ul>
      </div>
      <div class="examples">${examples(entry, document)}</div>
    </div>
  </article>`;
}

function examples(entry: Entry, document: OpenApiDocument): Html[] {
  const answer = answerExampleOf(entry.operation);
  const shown: readonly (readonly [title: string, text: string | undefined])[] = [
    ['curl', curlOf(entry)],
    ['keystorectl', commandLineOf(entry)],
    [`Answer ${answer.status}`, answer.text],
    ['A refusal', refusalExampleOf(entry.operation, document)],
  ];
  return shown.flatMap(([title, text]) =>
    text === undefined
      ? []
      : [
          html`<h3>${title}</h3>
            <pre tabindex="0">${text}</pre>`,
        ],
  );
}

function rightsOf(operation: Operation): Html {
  const verb = operation['x-operation'];
  const rights = verb === undefined ? html`Needs no token.` : html`Policies call this <code>${verb}</code>.`;
  return operation['x-idempotent'] === true ? html`${rights} May be repeated without harm.` : rights;
}

function answerTypeOf(operation: Operation): string {
  const [, response] = successesOf(operation)[0] ?? [];
  return firstOf(response?.content)[0] ?? '';
}

function refusals({ 'x-codes': codes }: Operation, { 'x-errors': errors }: OpenApiDocument): Html[] {
  const byStatus = Map.groupBy(codes, (code) => errors[code]?.status ?? 0);
  return [...byStatus]
    .toSorted(([left], [right]) => left - right)
    .map(([status, ofStatus]) => {
      const links = ofStatus.map((code) => html` <a href="${docsPath}/errors#${code}"><code>${code}</code></a>`);
      return html`<li>${status}${links}</li>`;
    });
}

function parametersTable(parameters: Operation['parameters']): Html {
  return html`<div class="wide" tabindex="0">
    <table>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">In</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
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
