// The last guard of a support bundle. Nothing that it collects should hold a secret; secrets known on this machine are removed
// nevertheless.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const privateKey = /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----[^]*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|$)/g;
const bearer = /\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi;
const removed = '[removed]';
/** Shortest secret that is removed: shorter ones would also remove unrelated digits. */
const leastLength = 4;

/** A function that removes private keys in PEM, credentials of headers, the token in use, and the token and PINs of a data directory. */
export function withoutSecrets(token: string | undefined, dataDirectory: string | undefined): (text: string) => string {
  const files =
    dataDirectory === undefined ? [] : ['root-token', 'pin', 'so-pin'].map((name) => join(dataDirectory, name)).filter(existsSync);
  const known = [token, ...files.map((path) => readFileSync(path, 'utf8').trim())].filter(
    (secret): secret is string => secret !== undefined && secret.length >= leastLength,
  );
  const forms = [...new Set(known.flatMap(formsOf))].sort((left, right) => right.length - left.length);
  return (text) =>
    forms.reduce((clean, form) => clean.replaceAll(form, removed), text.replace(privateKey, removed).replace(bearer, `$1 ${removed}`));
}

function formsOf(secret: string): readonly string[] {
  const octets = Buffer.from(secret);
  const hex = octets.toString('hex');
  return [secret, octets.toString('base64'), octets.toString('base64url'), hex, hex.toUpperCase(), encodeURIComponent(secret)];
}
