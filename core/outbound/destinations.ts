// Allowed destinations of providers: checks the name in the URL, and the address of each connection.
import { lookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { areWithin, commonRanges, hostOf, isWithin, parseAddress } from '../base/addresses.ts';
import { OutboundError } from './outbound-error.ts';

/**
 * Addresses, ranges and host names, from the configuration; `*.domain` covers the hosts below a domain. `alsoAllow`: further lists that are not
 * empty, each of which holds as `allow` does.
 */
export type Rules = {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly alsoAllow?: readonly (readonly string[])[] | undefined;
};

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

/**
 * Networks in which nobody is asked unless the configuration names the range: this machine, private ones (RFC 1918, RFC 4193), those of
 * carriers (RFC 6598), benchmarks (RFC 2544) and documentation; and of IPv6 those of sites, of discarded and segment-routed packets, and those
 * that carry an IPv4 address in a way that is not read here (RFC 8215, RFC 2765, RFC 4380). Link-local networks and metadata services are forbidden as for providers.
 */
export const closedRanges: readonly string[] = [
  ...['127.0.0.0/8', '::1', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', '100.64.0.0/10', '198.18.0.0/15'],
  ...['fec0::/10', '100::/64', '5f00::/16', '64:ff9b:1::/48', '::ffff:0:0:0/96', '2001::/32'],
  ...['192.0.0.0/24', '192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32'],
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
export function openDestinations(
  { allow, deny, alsoAllow = [] }: Rules,
  own: OwnListeners,
  { forbidden: more = [], resolve }: Beyond = {},
): Destinations {
  const denied = split(deny);
  const lists = [allow, ...alsoAllow].filter(({ length }) => length > 0).map(split);

  function isForbidden(address: string, port: number, host: string): boolean {
    const forms = [address, ...embeddedIn(address)];
    const isIn = (ranges: readonly string[]): boolean => forms.some((form) => isWithin(ranges, form));
    if (isIn(denied.ranges) || (own.ports.includes(port) && forms.some(isOfThisMachine))) return true;
    if (lists.length > 0 && lists.every(({ ranges }) => isIn(ranges))) return false;
    return isIn(alwaysForbidden) || isIn(more) || !lists.every(({ names, ranges }) => isNamed(names, host) || isIn(ranges));
  }

  return {
    wayTo(url) {
      const [host, port] = [nameOf(url), portOf(url)];
      const isOurs = isSameServer(url, new URL(own.publicUrl));
      if (isOurs || isNamed(denied.names, host)) throw forbidden();
      if (isIP(host) !== 0 && isForbidden(host, port, host)) throw forbidden();
      return {
        lookup: (name, options, done) => {
          const decide = (error: NodeJS.ErrnoException | null, found: readonly LookupAddress[]): void => {
            const [first, ...rest] = error === null ? found.filter(({ address }) => !isForbidden(address, port, host)) : [];
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

/** A name with the dot of the root at its end is the same name. */
const nameOf = (url: URL): string => hostOf(url).replace(/\.$/, '');
const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80));

function isSameServer(one: URL, other: URL): boolean {
  return nameOf(one) === nameOf(other) && portOf(one) === portOf(other);
}

/** The listeners of the service `listeners`, as far as calls must not go there. */
type PlatformListeners = Partial<Readonly<Record<'est' | 'management' | 'certificate', { readonly port: number } | undefined>>> & {
  readonly managementUrl: string;
  readonly pluginPorts?: readonly number[];
};

/** The ports and URL of the platform's listeners. */
export function ownListenersOf(listeners: PlatformListeners): OwnListeners {
  const { est, management, certificate, pluginPorts = [] } = listeners;
  return {
    ports: [...[est, management, certificate].flatMap((one) => (one === undefined ? [] : [one.port])), ...pluginPorts],
    get publicUrl() {
      return listeners.managementUrl;
    },
  };
}

/** Tells whether an entry of the configuration is an address or a range; otherwise it is a name. */
export function isRange(entry: string): boolean {
  return isIP(entry.replace(/\/.*$/, '')) !== 0;
}

function split(list: readonly string[]): { readonly names: readonly string[]; readonly ranges: readonly string[] } {
  return { names: list.filter((one) => !isRange(one)), ranges: list.filter(isRange) };
}

function isNamed(names: readonly string[], host: string): boolean {
  return names.some((name) => covers(name, host));
}

/** `host`: a name in small letters, or `*.domain`, whose hosts are covered together. */
function covers(name: string, host: string): boolean {
  const wanted = name.toLowerCase();
  return wanted.startsWith('*.') ? host.endsWith(wanted.slice(1)) : host === wanted;
}

/**
 * Tells whether a host can be in each of some lists of what is allowed. A name in one and a range in another may have a host in common, which its
 * address alone tells.
 */
export function haveHostInCommon(lists: readonly (readonly string[])[]): boolean {
  const parts = lists.filter(({ length }) => length > 0).map(split);
  // Each list lets a host pass by its name or by its address: one bit of a choice for each.
  return Array.from({ length: 2 ** parts.length }, (_, choice) => choice).some((choice) => {
    const names = parts.filter((_, index) => (choice & (1 << index)) !== 0).map((part) => part.names.map((name) => name.toLowerCase()));
    const ranges = parts.filter((_, index) => (choice & (1 << index)) === 0).map((part) => part.ranges);
    return [
      names.length === 0 ? ['any'] : names.reduce(commonNames),
      ranges.length === 0 ? ['any'] : ranges.reduce((some, others) => [...commonRanges(some, others)]),
    ].every(({ length }) => length > 0);
  });
}

/** The entries of a list of what is allowed that another list, of what is denied, leaves some host of. */
export function notDenied(allow: readonly string[], deny: readonly string[]): readonly string[] {
  const denied = split(deny);
  const isEverywhere = areWithin([], denied.ranges);
  return allow.filter(
    (one) => !(isRange(one) ? areWithin([one], denied.ranges) : isEverywhere || isNamed(denied.names, one.toLowerCase())),
  );
}

/** Of two names one covers the other, or they have no host in common. */
function commonNames(some: string[], others: string[]): string[] {
  return [...new Set([...some.filter((one) => isNamed(others, one)), ...others.filter((one) => isNamed(some, one))])];
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
