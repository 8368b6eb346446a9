// The sign-in page of the console: other plugins' ways as links, a token or an approle in forms. It has no script.
import type { Reply } from '../../../core/http/endpoint.ts';
import { claimingRole } from '../../../core/access/claiming.ts';
import { html, type Html } from '../../../core/http/pages/html.ts';
import { pageReply } from '../../../core/http/pages/frame.ts';
import type { Language } from '../../../core/http/pages/language.ts';
import type { SignInWay } from '../../../core/plugin/services/sessions.ts';

export type SignInView = {
  readonly language: Language;
  /** ways on pages of other plugins */
  readonly ways: readonly SignInWay[];
  /** SHA-256 of the appliance's CA, while nobody has claimed the appliance */
  readonly unclaimed?: string;
  /** reason for which the attempt before was refused */
  readonly problem?: { readonly status: number; readonly reason: Refused; readonly way: 'token' | 'approle' };
};

export const signInPath = '/ui/sign-in';

/** Reasons for which an attempt is refused. */
export type Refused = 'other-site' | 'login-failed' | 'rate-limited';

const english = {
  title: 'Sign in to the console',
  signIn: 'Sign in',
  signInWith: (way: string): string => `Sign in with ${way}`,
  withToken: 'With a token',
  token: 'Token',
  tokenHelp: 'Also the root token that the first start showed.',
  withApprole: 'With an approle',
  roleId: 'Role-id',
  secretId: 'Secret-id',
  secretIdHelp: 'A secret-id that works once is used up by it.',
  unclaimed: 'Nobody has claimed this appliance yet.',
  compare: 'The screen of the machine shows a role-id, a secret-id, and the fingerprint of its CA. Go on only if it is this one:',
  claim: 'Sign in with the role-id and the secret-id below. They work once.',
  refused: {
    'other-site': 'This form did not come from this page, or the browser is too old to say where it came from. Try again here.',
    'login-failed': 'This is not accepted. It may be mistyped, expired, used up or revoked, or not work from this address.',
    'rate-limited': 'There were too many attempts. Wait a minute, then try again.',
  } satisfies Readonly<Record<Refused, string>>,
};

const texts: Readonly<Record<Language, typeof english>> = {
  en: english,
  de: {
    title: 'An der Konsole anmelden',
    signIn: 'Anmelden',
    signInWith: (way) => `Anmelden mit ${way}`,
    withToken: 'Mit einem Token',
    token: 'Token',
    tokenHelp: 'Auch das Root-Token, das der erste Start gezeigt hat.',
    withApprole: 'Mit einer AppRole',
    roleId: 'Role-ID',
    secretId: 'Secret-ID',
    secretIdHelp: 'Eine Secret-ID, die einmal gilt, ist damit verbraucht.',
    unclaimed: 'Noch hat niemand diese Appliance in Besitz genommen.',
    compare:
      'Der Bildschirm der Maschine zeigt eine Role-ID, eine Secret-ID und den Fingerabdruck ihrer CA. Fahren Sie nur fort, wenn es dieser ist:',
    claim: 'Melden Sie sich unten mit der Role-ID und der Secret-ID an. Sie gelten einmal.',
    refused: {
      'other-site':
        'Dieses Formular kam nicht von dieser Seite, oder der Browser ist zu alt, um zu sagen, woher es kam. Versuchen Sie es hier erneut.',
      'login-failed':
        'Dies wird nicht angenommen. Es kann vertippt, abgelaufen, verbraucht oder widerrufen sein oder von dieser Adresse nicht gelten.',
      'rate-limited': 'Es gab zu viele Versuche. Warten Sie eine Minute und versuchen Sie es erneut.',
    },
  },
};

export function signInPage({ language, ways, problem, unclaimed }: SignInView, headers: Readonly<Record<string, string>> = {}): Reply {
  const words = texts[language];
  const isFirst = ways.length === 0 && unclaimed === undefined;
  const waysLook = unclaimed === undefined ? 'button primary' : 'button';
  const approleLook = unclaimed === undefined ? 'button' : 'button primary';
  return pageReply(
    problem?.status ?? 200,
    {
      language,
      title: words.title,
      main: html`<h1>${words.signIn}</h1>
        ${problem !== undefined && html`<p class="notice" role="alert">${words.refused[problem.reason]}</p>`}
        ${unclaimed !== undefined && claiming(words, unclaimed)}
        ${
          !isFirst &&
          html`<div class="stack">
            ${ways.map(({ path, title }) => html`<a class="${waysLook}" href="${path}">${words.signInWith(title[language])}</a>`)}
          </div>`
        }
        ${way(
          words.withToken,
          isFirst || problem?.way === 'token',
          html`<form action="${signInPath}" method="post">
            <input type="hidden" name="way" value="token" />
            ${secretField('token', words.token)}
            <p class="quiet">${words.tokenHelp}</p>
            <button class="button" type="submit">${words.signIn}</button>
          </form>`,
        )}
        ${way(
          words.withApprole,
          problem?.way === 'approle' || (unclaimed !== undefined && problem === undefined),
          html`<form action="${signInPath}" method="post">
            <input type="hidden" name="way" value="approle" />
            <label for="role-id">${words.roleId}</label>
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
            ${secretField('secret-id', words.secretId)}
            <p class="quiet">${words.secretIdHelp}</p>
            <button class="${approleLook}" type="submit">${words.signIn}</button>
          </form>`,
        )}`,
    },
    headers,
  );
}

/** Shows the fingerprint: only the eyes of a person who compares it can vouch for the first connection. */
function claiming(words: typeof english, fingerprint: string): Html {
  return html`<div class="notice">
    <p><strong>${words.unclaimed}</strong></p>
    <p>${words.compare}</p>
    <p><code class="code" tabindex="0" aria-label="CA SHA-256">${fingerprint}</code></p>
    <p>${words.claim}</p>
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
