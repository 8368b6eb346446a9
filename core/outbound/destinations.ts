// Allowed destinations of providers: checks the name in the URL, and the address of each connection.
import { lookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { hostOf, isWithin, parseAddress } from '../base/addresses.ts';
import type { Listeners } from '../plugin/services/listeners.ts';
import { OutboundError } from './outbound-error.ts';

/** Addresses, ranges and host names, from the configuration; `*.domain` covers the hosts below a domain. */
export type Rules = { readonly allow: readonly string[]; readonly deny: readonly string[] };

/** Ports of this appliance, and the URL at which others reach it. */
export type OwnListeners = { readonly ports: readonly number[]; readonly publicUrl: string };

/** Way to connect to one URL. */
export type Way = {
  /** drops forbidden addresses, whatever a name resolves to */
  readonly lookup: LookupFunction;
};

export type Destinations = {
  /** Throws OutboundError `forbidden-address` for a forbidden name or address in the URL. */
  wayTo(url: URL): Way;
};

/**
 * Forbidden unless the configuration allows the range itself: multicast and unspecified addresses, link-local networks, and the metadata
 * services of clouds, which give a machine its secrets.
 */
const alwaysForbidden: readonly string[] = [
  ...['0.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '240.0.0.0/4', '::/128', 'fe80::/10', 'ff00::/8'],
  ...['100.100.100.200', '168.63.129.16', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254'],
];

/** Rules beyond those of providers. */
type Beyond = {
  /** ranges that are forbidden as well, unless the configuration allows the range itself */
  readonly forbidden?: readonly string[];
  /** addresses of a name; default: as the system resolves it */
  readonly resolve?: (name: string) => Promise<readonly LookupAddress[]>;
};

/**
 * `deny` wins over `allow`; with entries in `allow` everything else is forbidden. The appliance's own listeners are always forbidden: a
 * tenant's provider must not make the appliance call itself.
 */
export function openDestinations({ allow, deny }: Rules, own: OwnListeners, { forbidden: more = [], resolve }: Beyond = {}): Destinations {
  const [allowedNames, deniedNames] = [allow, deny].map((list) => list.filter((one) => !isRange(one))) as [string[], string[]];
  const [allowedRanges, deniedRanges] = [allow, deny].map((list) => list.filter(isRange)) as [string[], string[]];

  function isForbidden(address: string, port: number, isNamed: boolean): boolean {
    const forms = [address, ...embeddedIn(address)];
    const isIn = (ranges: readonly string[]): boolean => forms.some((form) => isWithin(ranges, form));
    if (isIn(deniedRanges) || (own.ports.includes(port) && forms.some(isOfThisMachine))) return true;
    if (isIn(allowedRanges)) return false;
    return isIn(alwaysForbidden) || isIn(more) || (allow.length > 0 && !isNamed);
  }

  return {
    wayTo(url) {
      const host = hostOf(url).replace(/\.$/, '');
      const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
      const isNamed = allowedNames.some((name) => covers(name, host));
      const isOurs = url.origin === new URL(own.publicUrl).origin;
      if (isOurs || deniedNames.some((name) => covers(name, host))) throw forbidden();
      if (isIP(host) !== 0 && isForbidden(host, port, isNamed)) throw forbidden();
      return {
        lookup: (name, options, done) => {
          const decide = (error: NodeJS.ErrnoException | null, found: readonly LookupAddress[]): void => {
            const [first, ...rest] = error === null ? found.filter(({ address }) => !isForbidden(address, port, isNamed)) : [];
            if (first === undefined) done(error ?? forbidden(), '');
            else if (options.all === true) done(null, [first, ...rest] as LookupAddress[]);
            else done(null, first.address, first.family);
          };
          if (resolve === undefined) lookup(name, { ...options, all: true }, decide);
          else
            resolve(name).then(
              (found) => decide(null, found),
              (error: unknown) => decide(error as NodeJS.ErrnoException, []),
            );
        },
      };
    },
  };
}

/** The ports and URL of the platform's listeners. */
export function ownListenersOf(listeners: Listeners): OwnListeners {
  const { est, management, certificate } = listeners;
  return {
    ports: [est, management, certificate].flatMap((one) => (one === undefined ? [] : [one.port])),
    get publicUrl() {
      return listeners.managementUrl;
    },
  };
}

/** Tells whether an entry of the configuration is an address or a range; otherwise it is a name. */
export function isRange(entry: string): boolean {
  return isIP(entry.replace(/\/.*$/, '')) !== 0;
}

function covers(name: string, host: string): boolean {
  const wanted = name.toLowerCase();
  return wanted.startsWith('*.') ? host.endsWith(wanted.slice(1)) : host === wanted;
}

function isOfThisMachine(address: string): boolean {
  if (isWithin(loopback, address)) return true;
  const asked = parseAddress(address);
  const own = Object.values(networkInterfaces()).flatMap((one) => (one ?? []).map((held) => parseAddress(held.address)));
  return own.some((held) => held?.bits === asked?.bits && held?.value === asked?.value);
}

const loopback: readonly string[] = ['127.0.0.0/8', '::1'];

/** IPv4 addresses embedded in an IPv6 one: IPv4-compatible (RFC 4291), NAT64 (RFC 6052), 6to4 (RFC 3056). */
function embeddedIn(text: string): readonly string[] {
  const address = parseAddress(text);
  if (address?.bits !== 128) return [];
  const { value } = address;
  // `::` and `::1` are not IPv4 addresses.
  const isPrefixed = (value >> 32n === 0n && value > 0xffffn) || value >> 32n === 0x64ff9b_00000000_00000000n;
  return [...(isPrefixed ? [dotted(value)] : []), ...(value >> 112n === 0x2002n ? [dotted(value >> 80n)] : [])];
}

function dotted(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.');
}

function forbidden(): OutboundError {
  return new OutboundError('forbidden-address', 'providers at this address are not called');
}
