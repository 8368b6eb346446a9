// Ways to the hosts that prove names: which addresses are asked, and who resolves the names.
import { type CaaRecord, type LookupAddress, promises } from 'node:dns';
import { isIPv6 } from 'node:net';
import { closedRanges, type Destinations, openDestinations, type OwnListeners } from '../../../core/outbound/destinations.ts';
import { Semaphore } from '../../../core/base/async/semaphore.ts';
import type { Config } from '../config.ts';

export type Ways = {
  readonly destinations: Destinations;
  /** texts of a name, each joined from its parts. Rejects with the error of the system. */
  texts(name: string): Promise<readonly string[]>;
  /** CAA records of a name; none if it has none. Rejects with the error of the system. */
  caa(name: string): Promise<readonly CaaRecord[]>;
  readonly httpPort: number;
  readonly tlsPort: number;
};

/** Questions for CAA records at a time: an order may ask for hundreds. */
const caaAtOnce = 8;

/** A name that does not exist, or has no such record. */
function noneFound(error: NodeJS.ErrnoException): readonly [] {
  if (error.code === 'ENODATA' || error.code === 'ENOTFOUND') return [];
  throw error;
}

const question = { timeout: 3_000, tries: 2 } as const;

export function openWays({ validationHosts, resolvers, httpPort, tlsPort }: Config, own: OwnListeners): Ways {
  const resolver = new promises.Resolver(question);
  if (resolvers.length > 0)
    resolver.setServers(resolvers.map(({ host, port }) => (isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`)));
  const questions = new Semaphore(caaAtOnce);
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
    caa: (name) => questions.run(() => resolver.resolveCaa(name)).catch(noneFound),
    httpPort,
    tlsPort,
  };
}
