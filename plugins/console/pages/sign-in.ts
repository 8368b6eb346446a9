// The sign-in page of the console: other plugins' ways as links, a token or an approle in forms. It has no script.
import type { Reply } from '../../../core/http/endpoint.ts';
import { claimingRole } from '../../../core/access/claiming.ts';
import { html, type Html } from '../../../core/http/pages/html.ts';
import { pageReply } from '../../../core/http/pages/frame.ts';
import type { SignInWay } from '../../../core/plugin/services/sessions.ts';

export type SignInView = {
  /** ways on pages of other plugins */
  readonly ways: readonly SignInWay[];
  /** SHA-256 of the appliance's CA, while nobody has claimed the appliance */
  readonly unclaimed?: string;
  /** reason for which the attempt before was refused */
  readonly problem?: { readonly status: number; readonly text: string; readonly way: 'token' | 'approle' };
};

export const signInPath = '/ui/sign-in';

export function signInPage({ ways, problem, unclaimed }: SignInView, headers: Readonly<Record<string, string>> = {}): Reply {
  const isFirst = ways.length === 0 && unclaimed === undefined;
  const waysLook = unclaimed === undefined ? 'button primary' : 'button';
  const approleLook = unclaimed === undefined ? 'button' : 'button primary';
  return pageReply(
    problem?.status ?? 200,
    {
      title: 'Sign in to the console',
      main: html`<h1>Sign in</h1>
        ${problem !== undefined && html`<p class="notice" role="alert">${problem.text}</p>`}
        ${unclaimed !== undefined && claiming(unclaimed)}
        ${
          !isFirst &&
          html`<div class="stack">
            ${ways.map(({ path, title }) => html`<a class="${waysLook}" href="${path}">Sign in with ${title}</a>`)}
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
          problem?.way === 'approle' || (unclaimed !== undefined && problem === undefined),
          html`<form action="${signInPath}" method="post">
            <input type="hidden" name="way" value="approle" />
            <label for="role-id">Role-id</label>
            <input
              type="text"
              id="role-id"
              name="role-id"
              value="${unclaimed === undefined ? '' : claimingRole}"
              required
              maxlength="128"
              autocomplete="off"
              autocapitalize="none"
              spellcheck="false"
            />
            ${secretField('secret-id', 'Secret-id')}
            <p class="quiet">A secret-id that works once is used up by it.</p>
            <button class="${approleLook}" type="submit">Sign in</button>
          </form>`,
        )}`,
    },
    headers,
  );
}

/** Shows the fingerprint: only the eyes of a person who compares it can vouch for the first connection. */
function claiming(fingerprint: string): Html {
  return html`<div class="notice">
    <p><strong>Nobody has claimed this appliance yet.</strong></p>
    <p>The screen of the machine shows a role-id, a secret-id, and the fingerprint of its CA. Go on only if it is this one:</p>
    <p><code class="code" tabindex="0" aria-label="CA SHA-256">${fingerprint}</code></p>
    <p>Sign in with the role-id and the secret-id below. They work once.</p>
  </div>`;
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
