// The addresses of listeners that plugins open in every worker, as far as they are configured.
import type { Address, Configuration } from '../../core/config/config.ts';
import { toKebab } from '../../core/wire/schema.ts';
import type { ListenerName } from '../../core/plugin/services/listeners.ts';

/** Options with such an address, by the name of the listener: section and field. */
const fields = {
  enrolment: ['enrolment', 'listen'],
  'enrolment-plain': ['enrolment', 'plainListen'],
  status: ['enrolment', 'statusListen'],
  kmip: ['kmip', 'listen'],
} as const satisfies Partial<Record<ListenerName, readonly [plugin: string, field: string]>>;
type Name = keyof typeof fields;

/** By the name of the listener, with the proxies in front of all listeners. */
export function pluginPorts({
  plugins,
  estListen: { proxies },
}: Pick<Configuration, 'plugins' | 'estListen'>): Readonly<Partial<Record<Name, Address>>> {
  const front = proxies === undefined ? {} : { proxies };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, [plugin, field]]) => {
      const address = ((plugins[plugin] ?? {}) as Readonly<Record<string, Address | undefined>>)[field];
      return address === undefined ? [] : [[name, { ...address, ...front }]];
    }),
  );
}

/** The option of such a listener, for messages: `enrolment/plain-listen`. */
export function optionOf(name: string): string {
  const [plugin, field] = fields[name as Name];
  return `${plugin}/${toKebab(field)}`;
}
