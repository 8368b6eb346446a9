// Frame of all pages of the description: the list of groups, the search field, the style, and the headers.
import { Html, html } from '../../pages/html.ts';
import type { OpenApiDocument, Operation } from '../document.ts';
import { pageStyle, pageStyleHash } from './style.ts';

/** Headers of pages, besides `nosniff`, which every answer has: no scripts, and no external resources. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src '${pageStyleHash}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
};

/** An operation with its place. */
export type Entry = { readonly method: string; readonly path: string; readonly operation: Operation };

/** Lists every operation of a document with inlined bodies. */
export function entriesOf(document: OpenApiDocument): readonly Entry[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

export const docsPath = '/v1/docs';

/** `tls-authorities` as a title. */
export function titleOf(group: string): string {
  return group.replaceAll('-', ' ');
}

/** Address at which an operation is shown. */
export function hrefOf({ operation }: Entry): string {
  return `${docsPath}/${operation.tags[0] ?? ''}#${operation.operationId}`;
}

/** `POST /v1/…` as a link. */
export function linkTo(entry: Entry): Html {
  const { method, path } = entry;
  return html`<a class="operation" href="${hrefOf(entry)}"
    ><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></a
  >`;
}

type Frame = {
  readonly title: string;
  /** group, or another page, that the list marks as the present one */
  readonly present?: string;
  /** searched text */
  readonly text?: string;
  readonly main: Html;
};

/** A page as text. */
export function renderFrame({ info, tags }: Pick<OpenApiDocument, 'info' | 'tags'>, { title, present, text = '', main }: Frame): string {
  const links = [...tags.map(({ name }) => [name, titleOf(name)] as const), ['errors', 'error codes'] as const];
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · ${info.title} API</title>
        ${Html.join([`<style>${pageStyle}</style>`], [])}
      </head>
      <body>
        <nav aria-label="Groups">
          <a class="home" href="${docsPath}">${info.title} API</a>
          <form role="search" action="${docsPath}/find">
            <label for="text">Find an operation, a field or an error code</label>
            <span class="find"><input id="text" name="text" type="search" maxlength="100" value="${text}" /><button>Find</button></span>
          </form>
          ${links.map(
            ([name, label]) => html`<a href="${docsPath}/${name}" ${name === present ? html`aria-current="page"` : undefined}>${label}</a>`,
          )}
        </nav>
        <main>${main}</main>
      </body>
    </html> `;
  return page.markup;
}
