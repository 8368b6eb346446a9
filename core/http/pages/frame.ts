// The frame of every page and its headers: no scripts, no external resources, no caching, no referrer, no framing.
import { Reply } from '../endpoint.ts';
import { Html, html } from './html.ts';
import type { Language } from './language.ts';
import { styleHash, styleSheet } from './style.ts';

/** `form-action 'self'` works because no form leads to a provider: browsers apply it to redirects after a form too. */
const securityPolicy = [
  "default-src 'none'",
  `style-src '${styleHash}'`,
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const pageMediaType = 'text/html; charset=utf-8';

/** With `cache-control: no-store` and `nosniff`, which every answer has. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': securityPolicy,
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
};

export type Page = {
  /** of its texts; English where it is not said */
  readonly language?: Language;
  readonly title: string;
  readonly main: Html;
  /** small print below the card */
  readonly footer?: Html;
};

/** A page as an answer. */
export function pageReply(status: number, page: Page, headers: Readonly<Record<string, string | readonly string[]>> = {}): Reply {
  return new Reply(status, formatPage(page), { 'content-type': pageMediaType, ...pageHeaders, ...headers });
}

/** Redirects the browser to a GET, whatever the method of the request (RFC 9110 15.4.4). */
export function redirectReply(location: string, headers: Readonly<Record<string, string | readonly string[]>> = {}): Reply {
  return new Reply(303, '', { 'content-type': pageMediaType, ...pageHeaders, location, ...headers });
}

const shield = 'M12 1.5 3.5 5v6.2c0 5.2 3.6 9.4 8.5 11.3 4.9-1.9 8.5-6.1 8.5-11.3V5z';
const keyhole = 'M12 7.7a2.6 2.6 0 0 1 1.2 4.9v3.9h-2.4v-3.9a2.6 2.6 0 0 1 1.2-4.9z';
/** The mark of keystored, as the address of an image. */
export const iconAddress = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill="#0b5c8a" fill-rule="evenodd" d="${shield}${keyhole}"/></svg>`,
)}`;

// Joined as markup: escaping would change the sheet, and its hash would no longer match.
const style = Html.join([`<style>${styleSheet}</style>`], []);

/** A page as text, to send with `pageHeaders`. */
export function formatPage({ language = 'en', title, main, footer }: Page): string {
  const page = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title} · keystored</title>
        <link rel="icon" href="${iconAddress}" />
        ${style}
      </head>
      <body>
        <header>
          <svg viewBox="0 0 24 24" aria-hidden="true" focusable="false">
            <path fill="currentColor" fill-rule="evenodd" d="${shield}${keyhole}" />
          </svg>
          <span>keystored</span>
        </header>
        <main>${main}</main>
        ${footer === undefined ? undefined : html`<footer>${footer}</footer>`}
      </body>
    </html> `;
  return page.markup;
}

/** `21 Nov 2026, 14:05 UTC`: the time zone of the reader is unknown. */
export function formatMoment(instant: Temporal.Instant): string {
  const { year, month, day, hour, minute } = instant.toZonedDateTimeISO('UTC');
  return `${day} ${months[month - 1] ?? ''} ${year}, ${two(hour)}:${two(minute)} UTC`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

function two(number: number): string {
  return String(number).padStart(2, '0');
}
