// The addresses of the listener of enrolment protocols, which its plugin opens in every worker, as far as they are configured.
import type { Address, Configuration } from '../../core/config/config.ts';

type Section = { readonly listen?: Address; readonly plainListen?: Address };

/** By the name of the listener, with the proxies in front of all listeners. */
export function enrolmentPorts({ plugins, estListen: { proxies } }: Pick<Configuration, 'plugins' | 'estListen'>): {
  readonly enrolment?: Address;
  readonly 'enrolment-plain'?: Address;
} {
  const { listen, plainListen } = (plugins['enrolment'] ?? {}) as Section;
  const front = proxies === undefined ? {} : { proxies };
  return {
    ...(listen === undefined ? {} : { enrolment: { ...listen, ...front } }),
    ...(plainListen === undefined ? {} : { 'enrolment-plain': { ...plainListen, ...front } }),
  };
}
