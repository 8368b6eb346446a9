// The section `shipping` of the configuration: receivers of the audit trail and the logs.
import { isIP } from 'node:net';
import { z } from 'zod';
import { durationField, integer, nameField } from '../wire/fields.ts';
import { headerText, hostFault, plainText, serverUrl } from './other-servers.ts';
import { secretSource } from './secret-source.ts';

/** Protocols of receivers. All but syslog are HTTPS. */
export const shippingProtocols = ['syslog', 'json-lines', 'splunk', 'elastic', 'loki', 'otlp'] as const;
export type ShippingProtocol = (typeof shippingProtocols)[number];

/** Shipped topics: the audit trail, and `system:logs`. */
export const shippedSources = ['audit', 'logs'] as const;

const path = (what: string) => z.string().min(1).exactOptional().describe(what);

const fields = z.strictObject({
  name: nameField().max(48).describe('name of the destination: in messages, metrics and paths'),
  protocol: z.enum(shippingProtocols).describe('syslog: RFC 5424 over TLS (RFC 5425); the others are HTTPS'),
  address: z
    .string()
    .regex(/^(?:\[[0-9a-fA-F:.]+\]|[^:[\]/]+):\d{1,5}$/, 'must be HOST:PORT, for example siem.example:6514')
    .superRefine(requireHost)
    .exactOptional()
    .describe('syslog: host and port of the receiver'),
  url: serverUrl(['https'], 'username and password')
    .exactOptional()
    .describe('HTTPS: the full URL, for example https://splunk.example:8088/services/collector/event'),
  serverName: z
    .string()
    .min(1)
    .superRefine((name, context) => refuse(context, hostFault(name)))
    .exactOptional()
    .describe('name that the certificate of the receiver must have; default: the host'),
  caFile: path('PEM file of the CA certificates that alone may have issued the certificate of the receiver; default: those of the system'),
  certificateFile: path('PEM file of the client certificate, with its chain'),
  keyFile: path('PEM file of the key of the client certificate'),
  token: secretSource('the token of the receiver')
    .exactOptional()
    .describe('HTTPS: token of Splunk HEC, API key of Elastic, or Bearer token'),
  username: plainText(256)
    .refine((name) => !name.includes(':'), 'must have no colon: Basic authentication takes what follows for the password')
    .exactOptional()
    .describe('HTTPS: user for Basic authentication'),
  password: secretSource('the password').exactOptional().describe('HTTPS: password for Basic authentication'),
  sources: z.array(z.enum(shippedSources)).min(1).default(['audit']).describe('audit: the audit trail; logs: system:logs'),
  format: z
    .enum(['json', 'ecs', 'cef'])
    .exactOptional()
    .describe('json: the record as it is; ecs: Elastic Common Schema; cef: ArcSight, syslog only; default: ecs for elastic, else json'),
  onLag: z
    .enum(['continue', 'block'])
    .default('continue')
    .describe(
      'when max-lag-bytes is reached: continue goes on, and old files are removed and their records counted as dropped; block refuses changes and uses of keys until the receiver has caught up, and removes nothing',
    ),
  maxLagBytes: integer(1 << 16, 2 ** 40)
    .default(1 << 30)
    .describe('octets of the audit trail that the receiver may lack before on-lag decides'),
  heartbeat: durationField({ minSeconds: 5, maxSeconds: 86_400 })
    .prefault('60s')
    .describe('a record of its own is sent when there was nothing else for so long'),
  confirmEvery: durationField({ minSeconds: 1, maxSeconds: 600 })
    .prefault('10s')
    .describe(
      'syslog: how often the connection is closed to learn that everything was read; splunk: how often acknowledgements are asked for',
    ),
  maxRecordBytes: integer(1_024, 1 << 20)
    .default(8_000)
    .describe('syslog: longest message; longer fields are cut and marked'),
  enterpriseNumber: integer(1, 2 ** 32 - 1)
    .default(32_473)
    .describe('syslog: private enterprise number in the names of the structured data; the default is the one for examples'),
  index: headerText(255)
    .regex(
      // Elastic also takes names made of the date, in angle brackets.
      /^(?:<[^>]+>|[^-_+A-Z\\/*?"<>|,#:][^A-Z\\/*?"<>|,#:]*)$/,
      'must be a name of lower-case letters, digits, dots, hyphens and underscores that begins with a letter, a digit or a dot',
    )
    .exactOptional()
    .describe('splunk: index; elastic: index or data stream, if the URL has none'),
  sourceType: plainText(255).exactOptional().describe('splunk: sourcetype; default keystored:audit and keystored:logs'),
  acknowledgements: z.boolean().default(false).describe('splunk: wait for indexer acknowledgement; the token must have it enabled'),
  labels: z
    .record(z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_]*$/, 'must be a label name'), z.string().max(256))
    .exactOptional()
    .describe('loki: further labels of the streams'),
  tenant: z
    .string()
    .min(1)
    .max(150)
    .regex(/^(?!\.{1,2}$)[A-Za-z0-9!_.*'()-]+$/, "must have only ASCII letters, digits and ! - _ . * ' ( ), as Loki has it")
    .exactOptional()
    .describe('loki: tenant (X-Scope-OrgID)'),
});

/** One receiver, checked. */
export type Destination = Omit<z.output<typeof fields>, 'heartbeat' | 'confirmEvery' | 'format'> & {
  readonly heartbeatSeconds: number;
  readonly confirmEverySeconds: number;
  readonly format: 'json' | 'ecs' | 'cef';
};

type Given = z.output<typeof fields>;

function requireHost(text: string, context: z.RefinementCtx): void {
  refuse(context, hostFault(bare(text.replace(/:\d+$/, ''))));
}

function refuse(context: z.RefinementCtx, fault: string | undefined): void {
  if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
}

/** Fields that only some protocols have. */
const onlyFor: Readonly<Partial<Record<keyof Given, readonly ShippingProtocol[]>>> = {
  address: ['syslog'],
  url: ['json-lines', 'splunk', 'elastic', 'loki', 'otlp'],
  token: ['json-lines', 'splunk', 'elastic', 'loki', 'otlp'],
  username: ['json-lines', 'elastic', 'loki', 'otlp'],
  password: ['json-lines', 'elastic', 'loki', 'otlp'],
  index: ['splunk', 'elastic'],
  sourceType: ['splunk'],
  labels: ['loki'],
  tenant: ['loki'],
};

/** Fields that are given together or not at all, and those of which only one is. */
const pairs: readonly (readonly [keyof Given, keyof Given])[] = [
  ['certificateFile', 'keyFile'],
  ['username', 'password'],
];

const wireName = (field: string): string => field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Fault of a destination as a whole: the field, and one sentence that names the destination and the fix. */
function faultOf(given: Given): readonly [field: keyof Given, fault: string] | undefined {
  const { protocol } = given;
  const where = `destination ${given.name}`;
  const needed = protocol === 'syslog' ? 'address' : 'url';
  if (given[needed] === undefined) return [needed, `is missing: ${where} needs it with protocol ${protocol}`];
  for (const [field, protocols] of Object.entries(onlyFor) as [keyof Given, readonly ShippingProtocol[]][]) {
    if (given[field] !== undefined && !protocols.includes(protocol))
      return [field, `is not for protocol ${protocol}: remove it from ${where}, or use ${protocols.join(' or ')}`];
  }
  for (const [one, other] of pairs) {
    if ((given[one] === undefined) !== (given[other] === undefined))
      return [given[one] === undefined ? one : other, `is missing: ${where} needs ${wireName(one)} and ${wireName(other)} together`];
  }
  if (given.token !== undefined && given.username !== undefined) return ['token', `must not be given together with username in ${where}`];
  if (protocol === 'splunk' && given.token === undefined)
    return ['token', `is missing: ${where} needs the token of the HTTP Event Collector`];
  if (protocol === 'elastic' && given.index === undefined && /^\/*(?:_bulk)?\/*$/.test(URL.parse(given.url ?? '')?.pathname ?? ''))
    return ['index', `is missing: ${where} needs the index or data stream, here or in its url (https://HOST:9200/INDEX/_bulk)`];
  if (given.acknowledgements && protocol !== 'splunk') return ['acknowledgements', `is only for protocol splunk: remove it from ${where}`];
  if (given.format === 'cef' && protocol !== 'syslog') return ['format', `cef is only for syslog: ${where} can have json or ecs`];
  const port = /:(\d+)$/.exec(given.address ?? ':1')?.[1];
  return Number(port) >= 1 && Number(port) <= 65_535 ? undefined : ['address', `of ${where} must have a port from 1 to 65535`];
}

const destination = fields
  .superRefine((given, context) => {
    const fault = faultOf(given);
    if (fault !== undefined) context.addIssue({ code: 'custom', path: [fault[0]], message: fault[1] });
  })
  .transform(({ heartbeat, confirmEvery, format, ...rest }): Destination => ({
    ...rest,
    format: format ?? (rest.protocol === 'elastic' ? 'ecs' : 'json'),
    heartbeatSeconds: heartbeat.seconds,
    confirmEverySeconds: confirmEvery.seconds,
  }));

/** Fields of the section. */
export const shippingFields = {
  destinations: z
    .array(destination)
    .max(16)
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'must not have two destinations of the same name')
    .default([])
    .describe('receivers of the audit trail and the logs; the trail on the disk is the buffer'),
};

/** Host and port of a destination. The host is without brackets. */
export function addressOf({ address, url }: Destination): { readonly host: string; readonly port: number } {
  if (address === undefined) {
    const { hostname, port } = new URL(url ?? '');
    return { host: bare(hostname), port: port === '' ? 443 : Number(port) };
  }
  const colon = address.lastIndexOf(':');
  return { host: bare(address.slice(0, colon)), port: Number(address.slice(colon + 1)) };
}

/** The name that the certificate of the receiver must have; an IP address is checked as one. */
export function serverNameOf(destination: Destination): { readonly servername?: string; readonly expected: string } {
  const expected = destination.serverName ?? addressOf(destination).host;
  return isIP(expected) === 0 ? { servername: expected, expected } : { expected };
}

function bare(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host;
}
