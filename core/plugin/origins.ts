// Origins of a port of a plugin, for the URLs that devices are given and keep for years.
import { isIPv6 } from 'node:net';
import { z } from 'zod';
import type { Listeners } from './services/listeners.ts';

type Scheme = 'https' | 'http';

/** Field of a configuration: an origin (`https://devices.example`), without a path; the normal port of the scheme is left out. */
export const originField = (scheme: Scheme) =>
  z
    .url({ protocol: new RegExp(`^${scheme}$`), error: `must be an ${scheme} URL` })
    .refine((url) => isOrigin(url), 'must have no path, query or user: the paths are those of the protocol')
    .transform((url) => new URL(url).origin);

function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.href === `${url.origin}/`;
}

/**
 * Origins by every name and address. First the one that was configured for this port, which is another where something in front passes
 * connections on; then the host of a URL that was given for the service: the others are this appliance alone.
 */
export function originsOf(
  { hosts, managementUrl, isUrlGiven }: Pick<Listeners, 'hosts' | 'managementUrl' | 'isUrlGiven'>,
  { scheme, port, publicUrl }: { readonly scheme: Scheme; readonly port: number; readonly publicUrl: string | undefined },
): readonly string[] {
  const names = hosts.map((host) => (isIPv6(host) ? `[${host}]` : host));
  const own = [...(isUrlGiven === true ? [new URL(managementUrl).hostname] : []), ...names].map((host) => `${scheme}://${host}:${port}`);
  return [...new Set([...(publicUrl === undefined ? [] : [publicUrl]), ...own])];
}

/** Tells what is missing where TLS clients come by an origin whose host the certificates of the appliance do not have; undefined if they have it. */
export function lackOfName({ hosts }: Pick<Listeners, 'hosts'>, option: string, publicUrl: string | undefined): string | undefined {
  if (publicUrl === undefined) return undefined;
  const host = new URL(publicUrl).hostname.replaceAll(/^\[|\]$/g, '');
  if (hosts.some((one) => one.toLowerCase() === host)) return undefined;
  return `The certificates of this appliance do not have the name ${host} of ${option}: devices that come by it do not trust this appliance. Add it to "hosts" of the configuration.`;
}
