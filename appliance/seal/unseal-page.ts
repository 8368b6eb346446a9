// The pages of a sealed appliance for the person with the PIN: a form, what became of the attempt, and where to go on. They have no script.
import { formatPage, pageHeaders, pageMediaType } from '../../core/http/pages/frame.ts';
import { html, type Html } from '../../core/http/pages/html.ts';
import type { Answer } from '../../core/http/response/answer.ts';

/** Where the form is, and where it is sent to. */
export const unsealPagePath = '/unseal';

/** The field of the PIN of all tokens; that of one token alone has its name behind it. */
const pinField = 'pin';

export type FailedAttempt = { readonly status: number; readonly text: string; readonly headers?: Answer['headers'] };

/** The form, with why the attempt before failed. `tokens`: names of those that the configuration has, none for the embedded one. */
export function unsealPage(tokens: readonly string[], failed?: FailedAttempt): Answer {
  const main = html`<h1>This appliance is sealed</h1>
    ${failed !== undefined && html`<p class="notice" role="alert">${failed.text}</p>`}
    <p>It holds no key. Everything waits until a person gives the PIN of ${tokens.length > 1 ? 'each token' : 'its token'}.</p>
    <form action="${unsealPagePath}" method="post">
      ${tokens.length > 1 ? tokens.map((token) => field(`${pinField}-${token}`, `PIN of ${token}`)) : field(pinField, 'PIN')}
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

/** After the attempt that worked. */
export function unsealedPage(): Answer {
  const main = html`<h1>The appliance is unsealed</h1>
    <p>Its tokens are open, and it serves again.</p>
    <a class="button primary" href="/">Go on</a>`;
  // The next request meets a process that serves.
  return pageAnswer(200, 'The appliance is unsealed', main, { connection: 'close' });
}

/** The PINs of a sent form, for the schema of unseal: what is empty was not given. */
export function pinsIn(form: URLSearchParams): { readonly pin?: string; readonly pins?: Readonly<Record<string, string>> } {
  const given = [...form].filter(([name, value]) => value !== '' && name.startsWith(`${pinField}-`));
  const pin = form.get(pinField);
  if (pin !== null && pin !== '') return { pin };
  return given.length === 0 ? {} : { pins: Object.fromEntries(given.map(([name, value]) => [name.slice(pinField.length + 1), value])) };
}

function field(id: string, label: string): Html {
  return html`<label for="${id}">${label}</label>
    <input type="password" id="${id}" name="${id}" required maxlength="256" autocomplete="off" autocapitalize="none" spellcheck="false" />`;
}

function pageAnswer(status: number, title: string, main: Html, headers: Answer['headers'] = {}): Answer {
  return { status, mediaType: pageMediaType, body: formatPage({ title, main }), headers: { ...pageHeaders, ...headers } };
}
