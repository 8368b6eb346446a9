// The query of a GET (RFC 8894 section 4.1): operation and message, in every form of base64 that clients send.

export type ScepQuery = {
  readonly operation: string | undefined;
  /** as sent, percent signs and all; undefined when the parameter is absent */
  readonly message: string | undefined;
};

/** Longest base64 of a message: that of 64 KiB, with every character escaped. */
const longestMessage = 3 * 90_000;

/** Reads the raw query, without `?`, of which other parameters are ignored; undefined if one of the two is repeated or badly escaped. */
export function readQuery(query: string): ScepQuery | undefined {
  const found = new Map<string, string>();
  for (const part of query.split('&')) {
    const at = part.indexOf('=');
    const name = at < 0 ? part : part.slice(0, at);
    if (name !== 'operation' && name !== 'message') continue;
    if (found.has(name)) return undefined;
    found.set(name, at < 0 ? '' : part.slice(at + 1));
  }
  return { operation: found.get('operation'), message: found.get('message') };
}

/**
 * Octets of the `message` of PKIOperation, or undefined. Clients send base64 with `+`, `/` and `=` escaped or bare (macOS sends `+`
 * bare, which form decoding would make a space), in the URL alphabet (micromdm), in lines (sscep), and with padding or without. Beyond that the
 * text is canonical base64.
 */
export function decodeMessage(message: string): Uint8Array | undefined {
  if (message.length > longestMessage) return undefined;
  const unescaped = unescape(message);
  if (unescaped === undefined) return undefined;
  const text = unescaped
    .replaceAll(/[\r\n]/g, '')
    .replaceAll(/[ -]/g, '+')
    .replaceAll('_', '/');
  const [, digits = '', padding = ''] = /^([A-Za-z0-9+/]+)(={0,2})$/.exec(text) ?? [];
  const missing = (4 - (digits.length % 4)) % 4;
  if (digits === '' || missing === 3 || (padding !== '' && padding.length !== missing)) return undefined;
  try {
    return Uint8Array.fromBase64(digits + '='.repeat(missing), { lastChunkHandling: 'strict' });
  } catch {
    return undefined;
  }
}

/** Undoes escapes with a percent sign of single ASCII characters; undefined if one is not of two digits. */
function unescape(text: string): string | undefined {
  if (!/^(?:[^%]|%[0-7][0-9A-Fa-f])*$/.test(text)) return undefined;
  return text.replaceAll(/%(..)/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}
