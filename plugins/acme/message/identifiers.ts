// Identifiers of orders (RFC 8555 section 9.7.7, RFC 8738), and the same names as certification requests and policies write them.
import { isIP } from 'node:net';
import { parseAddress } from '../../../core/base/addresses.ts';
import { isJsonObject, type JsonValue } from '../../../core/wire/json.ts';
import { failAcme } from '../errors.ts';
import { malformed } from './malformed.ts';
import { limits } from '../limits.ts';
import type { Identifier } from '../records/records.ts';

/** Reads the identifiers of an order, each once, in lower case. Throws `acme-malformed` and `acme-unsupported-identifier`. */
export function readIdentifiers(value: JsonValue | undefined): readonly Identifier[] {
  if (!Array.isArray(value) || value.length === 0) throw malformed('"identifiers" is a list with one name at least.');
  if (value.length > limits.identifiers) throw malformed(`"identifiers" has more than ${limits.identifiers} names.`);
  const byName = new Map(
    (value as readonly JsonValue[]).map((one) => {
      const identifier = readIdentifier(one);
      return [nameOf(identifier), identifier] as const;
    }),
  );
  return [...byName.values()];
}

function readIdentifier(entry: JsonValue): Identifier {
  if (!isJsonObject(entry) || typeof entry['type'] !== 'string' || typeof entry['value'] !== 'string')
    throw malformed('Each of "identifiers" has a "type" and a "value" that are texts.');
  const { type, value } = entry;
  if (type === 'dns') return { type, value: readHost(value) };
  if (type === 'ip') return { type, value: readAddress(value) };
  throw failAcme('acme-unsupported-identifier');
}

/** A host name in lower case. A wildcard is one as far as its form goes; policies decide about it. */
function readHost(text: string): string {
  const name = text.toLowerCase();
  if (isIP(name) !== 0) throw malformed('An identifier of type dns is an address: send it with the type ip.');
  if (!/^[\x21-\x7e]+$/.test(name)) throw malformed('An identifier has characters outside ASCII: write its labels as A-labels (xn--).');
  if (name.endsWith('.')) throw malformed('An identifier has a dot at its end: leave it out.');
  const host = name.startsWith('*.') ? name.slice(2) : name;
  if (host.length > 253 || !hostPattern.test(host) || /^\d+$/.test(host.slice(host.lastIndexOf('.') + 1)))
    throw malformed('An identifier is not a host name: labels of letters, digits and inner hyphens, the last one not of digits alone.');
  return name;
}

const hostPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

function readAddress(text: string): string {
  const family = text.includes('%') ? 0 : isIP(text);
  if (family === 0) throw malformed('An identifier of type ip is not an IP address.');
  if (family === 4) return text;
  if (parseAddress(text)?.bits === 32) throw malformed('An identifier is an IPv4 address written as IPv6: write it as IPv4.');
  // The URL parser writes the form of RFC 5952.
  return new URL(`http://[${text}]/`).hostname.slice(1, -1);
}

export const isWildcard = ({ type, value }: Identifier): boolean => type === 'dns' && value.startsWith('*.');

/** The name that is proved: of a wildcard the domain above it. */
export function baseOf(identifier: Identifier): Identifier {
  return isWildcard(identifier) ? { type: 'dns', value: identifier.value.slice(2) } : identifier;
}

/** `DNS:…` or `IP:…`, as requests and policies have it. */
export function nameOf({ type, value }: Identifier): string {
  return `${type === 'dns' ? 'DNS' : 'IP'}:${value}`;
}

/** The identifier of a common name. */
export function ofCommonName(text: string): string {
  return isIP(text) === 0 ? `DNS:${text.toLowerCase()}` : `IP:${text}`;
}
