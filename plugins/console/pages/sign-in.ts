// The sign-in page of the console: other plugins' ways as links, a token or an approle in forms. It has no script.
import type { Reply } from '../../../core/http/endpoint.ts';
import { html, type Html } from '../../../core/http/pages/html.ts';
import { pageReply } from '../../../core/http/pages/frame.ts';
import type { SignInWay } from '../../../core/plugin/services/sessions.ts';

export type SignInView = {
  /** ways on pages of other plugins */
  readonly ways: readonly SignInWay[];
  /** why the attempt before was refused */
  readonly problem?: { readonly status: number; readonly text: string; readonly way: 'token' | 'approle' };
};

export const signInPath = '/ui/sign-in';

export function signInPage({ ways, problem }: SignInView, headers: Readonly<Record<string, string>> = {}): Reply {
  const isFirst = ways.length === 0;
  return pageReply(
    problem?.status ?? 200,
    {
      title: 'Sign in to the console',
      main: html`<h1>Sign in</h1>
        ${problem !== undefined && html`<p class="notice" role="alert">${problem.text}</p>`}
        ${
          !isFirst &&
          html`<div class="stack">
            ${ways.map(({ path, title }) => html`<a class="button primary" href="${path}">Sign in with ${title}</a>`)}
          </div>`
        }
        ${way(
          'With a token',
          isFirst || problem?.way === 'token',
          html`<form action="${signInPath}" method="post">
            <input type="hidden" name="way" value="token" />
            ${secretField('token', 'Token')}
            <p class="quiet">Also the root token that the first start showed.</p>
            <button class="button" type="submit">Sign in</button>
          </form>`,
        )}
        ${way(
          'With an approle',
          problem?.way === 'approle',
          html`<form action="${signInPath}" method="post">
            <input type="hidden" name="way" value="approle" />
            <label for="role-id">Role-id</label>
            <input
              type="text"
              id="role-id"
              name="role-id"
              required
              maxlength="128"
              autocomplete="off"
              autocapitalize="none"
              spellcheck="false"
            />
            ${secretField('secret-id', 'Secret-id')}
            <p class="quiet">A secret-id that works once is used up by it.</p>
            <button class="button" type="submit">Sign in</button>
          </form>`,
        )}`,
    },
    headers,
  );
}

function way(title: string, isOpen: boolean, form: Html): Html {
  return html`<details ${isOpen && html`open`}>
    <summary>${title}</summary>
    ${form}
  </details>`;
}

/** Password managers may fill it, and pasting works (WCAG 2.2, success criterion 3.3.8). */
function secretField(name: string, label: string): Html {
  return html`<label for="${name}">${label}</label>
    <input
      type="password"
      id="${name}"
      name="${name}"
      required
      maxlength="128"
      autocomplete="off"
      autocapitalize="none"
      spellcheck="false"
    />`;
}
