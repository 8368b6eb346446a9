// Hosts, URLs and texts of headers that name other servers: values that could not be sent as written are refused at the start.
import { isIP } from 'node:net';
import { z } from 'zod';

/** Visible ASCII: a line end in a header would begin another one, and servers disagree about characters beyond ASCII. */
const visible = /^[\x21-\x7e]+$/;
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const control = /[\x00-\x1f\x7f-\x9f]/;

/** A text without control characters, which a line of a file or a header cannot hold. */
export function plainText(maxCharacters: number) {
  return z
    .string()
    .min(1)
    .max(maxCharacters)
    .refine((text) => !control.test(text) && text.isWellFormed(), 'must have no line ends and no other control characters: write it again');
}

/** A text for a header: visible ASCII without spaces. */
export function headerText(maxCharacters: number) {
  return z.string().min(1).max(maxCharacters).regex(visible, 'must have visible ASCII characters only: remove spaces and others');
}

/** Tells whether a secret can be sent in a header. */
export function fitsHeader(text: string): boolean {
  return visible.test(text);
}

/** Tells whether Basic authentication can send a text (RFC 7617 section 2: no control characters). */
export function fitsBasic(text: string): boolean {
  return !control.test(text);
}

/** Fault of the name of a host, with the fix; undefined for a DNS name (with underscores, as containers have them) or an IP address. */
export function hostFault(host: string): string | undefined {
  if (isIP(host) !== 0) return undefined;
  if (host.includes('@')) return 'must have no user and password: give username and password';
  if (!visible.test(host)) return 'must have a host in ASCII: write a name of other letters in its xn-- form';
  const isName = /^(?=.{1,253}\.?$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*\.?$/i.test(host);
  return isName ? undefined : 'must have a DNS name or an IP address as its host';
}

/** A URL of another server. `schemes` without colons; `credentials`: the fields for user and password, in words. */
export function serverUrl(schemes: readonly string[], credentials: string) {
  return z.string().superRefine((text, context) => {
    const fault = urlFault(text, schemes, credentials);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  });
}

function urlFault(text: string, schemes: readonly string[], credentials: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !schemes.includes(url.protocol.slice(0, -1)) || !/^[a-z]+:\/\//i.test(text.trim()))
    return `must be an ${schemes.join(' or ')} URL`;
  // The parser drops line ends and tabs, and spaces at the ends: the URL in use would differ from the written one.
  if (control.test(text) || text.trim() !== text) return 'must have no line ends, tabs and spaces around it: remove them';
  if (url.username !== '' || url.password !== '') return `must have no user and password: give ${credentials}`;
  return url.hash === '' ? undefined : 'must have no # and what follows: it is never sent';
}
