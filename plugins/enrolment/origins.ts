// Origins of the listeners, for the URLs that devices are given.
import { isIPv6 } from 'node:net';
import type { Listeners } from '../../core/plugin/services/listeners.ts';
import type { Config } from './config.ts';

/** By every name and address; the host of a URL that was given for this service comes first, because devices keep it for years. */
export function originsOf({ hosts, managementUrl, isUrlGiven }: Listeners, { listen, plainListen }: Config): readonly string[] {
  const names = hosts.map((host) => (isIPv6(host) ? `[${host}]` : host));
  const all = [...new Set([...(isUrlGiven === true ? [new URL(managementUrl).hostname] : []), ...names])];
  const secure = listen === undefined ? [] : all.map((host) => `https://${host}:${listen.port}`);
  const plain = plainListen === undefined ? [] : all.map((host) => `http://${host}:${plainListen.port}`);
  return [...secure, ...plain];
}
