// Ways to the hosts that prove names: which addresses are asked, and who resolves the names.
import { type LookupAddress, promises } from 'node:dns';
import { isIPv6 } from 'node:net';
import { type Destinations, openDestinations, type OwnListeners } from '../../../core/outbound/destinations.ts';
import type { Config } from '../config.ts';

export type Ways = {
  readonly destinations: Destinations;
  /** texts of a name, each joined from its parts. Rejects with the error of the system. */
  texts(name: string): Promise<readonly string[]>;
  readonly httpPort: number;
  readonly tlsPort: number;
};

/**
 * Networks in which nobody is asked unless the configuration names the range: this machine, private ones (RFC 1918, RFC 4193), those of
 * carriers (RFC 6598), benchmarks (RFC 2544) and documentation; and of IPv6 those of sites, of discarded and segment-routed packets, and those
 * that carry an IPv4 address in a way that is not read here (RFC 8215, RFC 2765, RFC 4380). Link-local networks and metadata services are forbidden as for providers.
 */
const closedRanges: readonly string[] = [
  ...['127.0.0.0/8', '::1', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', '100.64.0.0/10', '198.18.0.0/15'],
  ...['fec0::/10', '100::/64', '5f00::/16', '64:ff9b:1::/48', '::ffff:0:0:0/96', '2001::/32'],
  ...['192.0.0.0/24', '192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32'],
];

const question = { timeout: 3_000, tries: 2 } as const;

export function openWays({ validationHosts, resolvers, httpPort, tlsPort }: Config, own: OwnListeners): Ways {
  const resolver = new promises.Resolver(question);
  if (resolvers.length > 0)
    resolver.setServers(resolvers.map(({ host, port }) => (isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`)));
  const resolve = async (name: string): Promise<readonly LookupAddress[]> => {
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    if (four.status === 'rejected' && six.status === 'rejected') throw four.reason;
    return [
      ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
      ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
    ];
  };
  return {
    // The hosts file of this machine is not the name service: without own servers the system decides.
    destinations: openDestinations(validationHosts, own, { forbidden: closedRanges, ...(resolvers.length > 0 ? { resolve } : {}) }),
    texts: async (name) => (await resolver.resolveTxt(name)).map((parts) => parts.join('')),
    httpPort,
    tlsPort,
  };
}
