// An appliance with the console, and browsers that consist of a cookie jar and the second secret of their page.
import { equal, ok } from 'node:assert/strict';
import type { Answer, TestAppliance } from '../../harness/appliance.ts';
import { Browser } from '../oidc/harness.ts';

/** A browser from an address; its requests say that pages of this origin send them. */
export function openBrowser(appliance: TestAppliance, from = '127.0.0.1'): Browser {
  return new Browser((method, to, body, headers) => appliance.request(method, to, body, { token: undefined, headers, from }));
}

/** As a browser that shows a page. */
export const shown = { 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'same-origin' };

/** The facts that a page brings for the application. */
export function factsOf({ body }: Answer): { readonly secret?: string; readonly account?: string; readonly 'idle-seconds': number } {
  const content = /<meta name="keystored-console" content="([^"]*)"/.exec(String(body))?.[1];
  ok(content !== undefined, 'the page brings no facts');
  return JSON.parse(content.replaceAll('&quot;', '"').replaceAll('&amp;', '&')) as ReturnType<typeof factsOf>;
}

/** Signs in with a form and returns the second secret. */
export async function signIn(browser: Browser, form: Readonly<Record<string, string>>): Promise<string> {
  const answer = await browser.post('/ui/sign-in', form);
  equal(answer.status, 303, String(answer.body));
  const { secret } = factsOf(await browser.get('/ui', shown));
  ok(secret !== undefined, 'the first page brings no secret');
  return secret;
}

/** Headers of a request that the application sends. */
export function consoleHeaders(secret: string, site = 'same-origin'): Readonly<Record<string, string>> {
  return { accept: 'application/json', authorization: `Console ${secret}`, 'sec-fetch-site': site };
}
