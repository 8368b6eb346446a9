// The pages of a sealed appliance for the person with the PIN: a form, the result of the attempt, and links. They have no script.
import { formatPage, pageHeaders, pageMediaType } from '../../core/http/pages/frame.ts';
import { html, type Html } from '../../core/http/pages/html.ts';
import type { Progress } from '../custodians/gathering.ts';
import type { Answer } from '../../core/http/response/answer.ts';

/** Path of the form, to which it is also sent. */
export const unsealPagePath = '/unseal';

/** The field of the PIN of all tokens; that of one token alone has its name behind it. */
const pinField = 'pin';
const codeField = 'unseal-code';
const shareField = 'share';

export type FailedAttempt = { readonly status: number; readonly text: string; readonly headers?: Answer['headers'] };

/** The custodians of whom shares are awaited. `orPin`: or the PIN of a person, because a ceremony was cut off. */
export type Awaited = Progress & { readonly orPin: boolean };

/** The form, with why the attempt before failed. `tokens`: names of those that the configuration has, none for the embedded one. */
export function unsealPage(tokens: readonly string[], failed?: FailedAttempt, custodians?: Awaited): Answer {
  if (custodians !== undefined) return custodiansPage(custodians, failed);
  const main = html`<h1>This appliance is sealed</h1>
    ${failed !== undefined && html`<p class="notice" role="alert">${failed.text}</p>`}
    <p>It holds no key. Everything waits until a person gives the PIN of ${tokens.length > 1 ? 'each token' : 'its token'}.</p>
    <form action="${unsealPagePath}" method="post">
      ${tokens.length > 1 ? tokens.map((token) => field(`${pinField}-${token}`, `PIN of ${token}`)) : field(pinField, 'PIN')} ${codeInput()}
      <button class="button primary" type="submit">Unseal</button>
    </form>
    <section>
      <p class="quiet">
        A PIN is tried once. After a refused one the next attempt has to wait; after three the daemon has to be started again, because
        tokens lock themselves. Compare the certificate of this page with its fingerprint before you type.
      </p>
    </section>`;
  return pageAnswer(failed?.status ?? 200, 'Unseal the appliance', main, failed?.headers);
}

function custodiansPage({ ceremony, have, needed, orPin }: Awaited, failed?: FailedAttempt): Answer {
  const main = html`<h1>This appliance is sealed</h1>
    ${failed !== undefined && html`<p class="notice" role="alert">${failed.text}</p>`}
    <p>It holds no key. ${needed} custodians of the ceremony ${ceremony} give their shares: ${have} of ${needed} are here.</p>
    <form action="${unsealPagePath}" method="post">
      <label for="${shareField}">Share</label>
      <input
        type="password"
        id="${shareField}"
        name="${shareField}"
        required
        maxlength="256"
        autocomplete="off"
        autocapitalize="none"
        spellcheck="false"
      />
      <button class="button primary" type="submit">Give the share</button>
    </form>
    ${orPin && pinInstead()}
    <section>
      <p class="quiet">
        A wrong share is refused and counts for nothing. The shares that are here are forgotten half an hour after the last one. Compare the
        certificate of this page with its fingerprint before you type.
      </p>
    </section>`;
  return pageAnswer(failed?.status ?? 200, 'Unseal the appliance', main, failed?.headers);
}

function pinInstead(): Html {
  return html`<p>
      That ceremony, or the end of the custody, was cut off: where the shares do not unseal the appliance, the PIN of a person does.
    </p>
    <form action="${unsealPagePath}" method="post">
      ${field(pinField, 'PIN')} ${codeInput()}
      <button class="button" type="submit">Unseal by the PIN</button>
    </form>`;
}

/** After the attempt that worked. */
export function unsealedPage(): Answer {
  const main = html`<h1>The appliance is unsealed</h1>
    <p>Its tokens are open, and it serves again.</p>
    <a class="button primary" href="/">Go on</a>`;
  // The next request meets a process that serves.
  return pageAnswer(200, 'The appliance is unsealed', main, { connection: 'close' });
}

type UnsealForm = {
  readonly share?: string;
  readonly pin?: string;
  readonly pins?: Readonly<Record<string, string>>;
  readonly 'unseal-code'?: string;
};

/** A sent form, for the schema of unseal: an empty field counts as not given. */
export function unsealFormOf(form: URLSearchParams): UnsealForm {
  const code = form.get(codeField)?.trim() ?? '';
  const share = form.get(shareField);
  if (share !== null && share !== '') return { share };
  return { ...pinsIn(form), ...(code === '' ? {} : { [codeField]: code }) };
}

function pinsIn(form: URLSearchParams): Pick<UnsealForm, 'pin' | 'pins'> {
  const given = [...form].filter(([name, value]) => value !== '' && name.startsWith(`${pinField}-`));
  const pin = form.get(pinField);
  if (pin !== null && pin !== '') return { pin };
  return given.length === 0 ? {} : { pins: Object.fromEntries(given.map(([name, value]) => [name.slice(pinField.length + 1), value])) };
}

function field(id: string, label: string): Html {
  return html`<label for="${id}">${label}</label>
    <input type="password" id="${id}" name="${id}" required maxlength="256" autocomplete="off" autocapitalize="none" spellcheck="false" />`;
}

function codeInput(): Html {
  return html`<label for="${codeField}">Unseal code</label>
    <input
      id="${codeField}"
      name="${codeField}"
      maxlength="64"
      autocomplete="off"
      autocapitalize="characters"
      spellcheck="false"
      aria-describedby="about-code"
    />
    <p class="quiet" id="about-code">
      The appliance has shown it on its console and in its log when it was sealed. At the machine itself it is not needed.
    </p>`;
}

function pageAnswer(status: number, title: string, main: Html, headers: Answer['headers'] = {}): Answer {
  return { status, mediaType: pageMediaType, body: formatPage({ title, main }), headers: { ...pageHeaders, ...headers } };
}
