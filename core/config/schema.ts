// The configuration: every field with its default and meaning. This schema checks it, and the reference is generated from it.
import { isIP } from 'node:net';
import { availableParallelism, hostname, networkInterfaces } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import { defined } from '../base/defined.ts';
import type { HsmConfig, PinSource } from '../../hsm/api.ts';
import type { LogLevel } from '../base/context.ts';
import { providerHostsField, type Rules } from '../outbound/provider-hosts.ts';
import { durationField, integer } from '../wire/fields.ts';
import { type BackupConfig, backupSection } from './backup.ts';
import { type ClusterConfig, clusterSection } from './cluster.ts';
import { connectionsByMemory, keysThatFit } from './memory.ts';
import { connectionsThatFit, openFileLimit } from './open-files.ts';
import { type Proxies, proxiesSection } from './proxies.ts';
import { type NoticesConfig, noticesSection } from './notices.ts';
import { secretSource } from './secret-source.ts';
import { type Destination, shippingFields } from './shipping.ts';

/** Address of a listener, and its proxies. `descriptor`: an inherited socket that already listens. */
export type Address = {
  readonly host: string;
  readonly port: number;
  readonly descriptor?: number;
  readonly proxies?: Proxies;
  /** limit of a process, from its memory */ readonly connections?: number;
};

/** The complete, checked configuration of one appliance. */
export type Configuration = {
  /** source of each option: `--data`, `KEYSTORED_DATA` or a line of the file */
  readonly sources: Readonly<Record<string, string>>;
  /** absolute path of the data directory */
  readonly data: string;
  readonly listen: Address;
  readonly estListen: Address;
  /** absent: nobody logs in by certificate */
  readonly certificateListen?: Address;
  /** hosts at which clients of the management API are asked for certificates, in lower case; `*` is each */
  readonly certificateHosts: readonly string[];
  /** base URL of the management API for clients, without a slash at the end */
  readonly publicUrl: string;
  /** true if it was not configured, but derived from the name of this appliance alone */
  readonly publicUrlIsOwn: boolean;
  /** URL at which other appliances reach this one, past proxies in front of it */
  readonly ownUrl: string;
  /** host names and addresses in the certificates of both listeners, the common name first */
  readonly hosts: readonly string[];
  /** place where the private key of both listeners is made and kept */
  readonly tlsKey: 'store' | 'token';
  /** true if listeners also have a certificate with an RSA key */
  readonly tlsRsaCertificate: boolean;
  /** paths of OpenSSL's engine and of p11-kit's client, if not those of the distributions */
  readonly tlsKeyModules?: { readonly engine: string; readonly client: string };
  readonly workers: number;
  readonly logLevel: LogLevel;
  readonly logs: { readonly maxFileBytes: number; readonly retainFiles: number };
  /** receivers of the audit trail and the logs */
  readonly shipping: { readonly destinations: readonly Destination[] };
  /** channels of messages about what needs a person */
  readonly notices: NoticesConfig;
  readonly audit: { readonly maxFileBytes: number; readonly retainFiles: number; readonly signEverySeconds: number };
  /** without tokens the embedded one is used */
  readonly hsm: HsmConfig;
  /** every start is sealed until a person gives the PIN */
  readonly attended: boolean;
  /** PIN of the embedded token, chosen by a person */
  readonly embeddedPin?: PinSource;
  /** the first start writes a credential for one login to this file, instead of a root token */
  readonly bootstrapFile?: string;
  /** file that receives the reason when a start is refused */
  readonly refusalFile?: string;
  /** socket of the service that performs the operations that need root, on an appliance */
  readonly operationsSocket?: string;
  /** a backup that is restored into the empty data directory before this start, and the file with its passphrase */
  readonly restore?: string;
  readonly restorePassphraseFile?: string;
  /** file of identities that opens it, instead of a passphrase */
  readonly restoreIdentityFile?: string;
  /** public keys of the audit trail of the appliance that made it */
  readonly restoreAuditKeys?: string;
  /** backups without a person; absent: none */
  readonly backup?: BackupConfig;
  /** the other appliances that share its store; absent: a single appliance */
  readonly cluster?: ClusterConfig;
  /** places to which calls to the providers that tenants name may go */
  readonly providerHosts: Rules;
  /** checked sections of the plugins by name */
  readonly plugins: Readonly<Record<string, unknown>>;
};

const dnsName = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;

function isHost(text: string): boolean {
  return isIP(text) !== 0 || dnsName.test(text);
}

/** HOST:PORT, of a listener. */
export const address = z.string().transform((text, context): Address => {
  const [, six, other = '', port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = six ?? other;
  if ((six === undefined ? isHost(host) : isIP(host) === 6) && Number(port) >= 1 && Number(port) <= 65_535)
    return { host, port: Number(port) };
  context.addIssue('must be HOST:PORT, for example 127.0.0.1:4646 or [::1]:4646');
  return z.NEVER;
});

const pin = secretSource('the PIN');

const tokenName = /^[a-z0-9-]{1,64}$/;
const tokenNameRule = 'must be lower-case letters, digits and hyphens';

const token = z
  .strictObject({
    name: z
      .string()
      .regex(tokenName, tokenNameRule)
      .describe('name of the token in keystored; part of every stored key unless it is in a group, never change it'),
    group: z
      .string()
      .regex(tokenName, tokenNameRule)
      .exactOptional()
      .describe(
        'group of tokens in each of which all keys of the group open; its name is part of every stored key in place of those of its tokens: give the group of a token that holds keys the name of that token',
      ),
    module: z.string().min(1).describe('path of the PKCS#11 module'),
    label: z.string().min(1).exactOptional().describe('label that selects the token; give label or serial'),
    serial: z.string().min(1).exactOptional().describe('serial number that selects the token'),
    pin: pin.describe('where the user PIN comes from'),
    environment: z.record(z.string(), z.string()).exactOptional().describe('environment variables of the process that loads the module'),
    maxSessions: integer(2, 1_000_000)
      .exactOptional()
      .describe(
        'sessions that the appliance opens at most, all workers together, for devices that have few and do not say so; a worker takes two at least; absent: no limit',
      ),
    libraryParameters: z.string().exactOptional().describe('C_Initialize parameters (NSS softoken)'),
  })
  .refine(({ label, serial }) => (label === undefined) !== (serial === undefined), 'must have exactly one of label and serial');

const fileLimits = {
  maxFileBytes: integer(1 << 16, 2 ** 40).describe('a file that has reached this many octets is followed by a new one'),
  retainFiles: integer(2, 1_000_000).describe('files kept for each process; older ones are removed'),
};

/** Base URL of the management API, as typed. */
export const publicUrlField = () => z.url({ protocol: /^https$/, error: 'must be an https URL' });

/** Fields of the core; each plugin adds one section. */
export const coreFields = {
  data: z.string().min(1).default('./data').describe('directory of all state: store, embedded token, audit trail, logs, TLS identity'),
  listen: address.prefault('127.0.0.1:4646').describe('management API and browser pages (HTTPS)'),
  estListen: address.prefault('127.0.0.1:4665').describe('EST (HTTPS, only EST)'),
  certificateListen: address
    .exactOptional()
    .describe(
      'the management API once more, for clients with certificates (HTTPS): logins by certificate, and the tokens that are bound to one; absent: no listener',
    ),
  certificateHosts: z
    .array(
      z
        .string()
        .refine((text) => text === '*' || (dnsName.test(text) && isIP(text) === 0), 'must be a host name, or * for every client')
        .transform((text) => text.toLowerCase()),
    )
    .max(16)
    .default([])
    .describe(
      'clients that connect to the management API under one of these host names are asked for their certificate, as those of certificate-listen are; * asks all, at which browsers prompt; the names come into the certificates as well',
    ),
  proxies: proxiesSection,
  providerHosts: providerHostsField('identity providers, directories and issuers of workloads'),
  publicUrl: publicUrlField()
    .transform((url) => url.replace(/\/+$/, ''))
    .exactOptional()
    .describe(
      'URL of the management API for clients; default: made from listen and hosts, of a member of a cluster without hosts from its address',
    ),
  hosts: z
    .array(z.string().refine(isHost, 'must be a host name or an IP address'))
    .min(1)
    .exactOptional()
    .describe('names and addresses in the certificates of both listeners, the common name first; default: those of this machine'),
  tlsKey: z
    .enum(['store', 'token'])
    .default('store')
    .describe(
      'where the private key of both listeners is: in the store, sealed like every record; or in the token, which signs each full handshake and never shows it (needs the packages libengine-pkcs11-openssl and p11-kit-modules)',
    ),
  tlsRsaCertificate: z
    .boolean()
    .default(false)
    .describe(
      'whether the listeners also have a certificate with an RSA key (2,048 bits, in the store), which clients get that know no ECDSA',
    ),
  tlsKeyModules: z
    .strictObject({
      engine: z.string().min(1).describe("path of pkcs11.so, libp11's engine for OpenSSL 3"),
      client: z.string().min(1).describe('path of p11-kit-client.so'),
    })
    .exactOptional()
    .describe('for tls-key: token, where its two libraries are; default: where distributions put them'),
  restore: z.string().min(1).exactOptional().describe('a backup to fill the empty data directory with before this start'),
  restorePassphraseFile: z.string().min(1).exactOptional().describe('file that holds the passphrase of the backup'),
  restoreIdentityFile: z.string().min(1).exactOptional().describe('file with the age identity of a recipient of the backup; mode 0600'),
  restoreAuditKeys: z
    .string()
    .min(1)
    .exactOptional()
    .describe('file with the public keys (audit-keys.pem) of the appliance that made the backup: any other origin is refused'),
  backup: backupSection.exactOptional(),
  cluster: clusterSection.exactOptional(),
  bootstrapFile: z
    .string()
    .min(1)
    .exactOptional()
    .describe(
      'first start: instead of a root token, a credential for one login within 24 hours is written to this file, again at each start until a root token is made with it; place it in memory (/run)',
    ),
  refusalFile: z
    .string()
    .min(1)
    .exactOptional()
    .describe(
      'file that also receives the reason when a start is refused, and is removed by one that serves; for a screen without a journal',
    ),
  operationsSocket: z
    .string()
    .min(1)
    .exactOptional()
    .describe('Unix socket of the service that performs reboot, power-off and factory-reset; without it these operations do not exist'),
  workers: integer(1, 256).default(availableParallelism()).describe('processes that serve requests; default: one per core'),
  logLevel: z.enum(['debug', 'info', 'warn', 'error']).default('info').describe('the least important lines that are logged'),
  logs: z
    .strictObject({ maxFileBytes: fileLimits.maxFileBytes.default(16 << 20), retainFiles: fileLimits.retainFiles.default(8) })
    .prefault({}),
  audit: z
    .strictObject({
      maxFileBytes: fileLimits.maxFileBytes.default(64 << 20),
      retainFiles: fileLimits.retainFiles.default(64),
      signEvery: durationField({ minSeconds: 1, maxSeconds: 86_400 })
        .prefault('60s')
        .describe('how often the heads of the audit trail are signed'),
    })
    .prefault({}),
  shipping: z.strictObject(shippingFields).prefault({}),
  notices: noticesSection,
  hsm: z
    .strictObject({
      tokens: z
        .array(token)
        .refine((tokens) => new Set(tokens.map(({ name }) => name)).size === tokens.length, 'must not have two tokens of the same name')
        .refine(
          (tokens) => tokens.every(({ name, group }) => tokens.every((other) => other.group !== name || group === name)),
          'must not have a group with the name of a token that is not in it',
        )
        .default([])
        .describe('PKCS#11 tokens; without any, a SoftHSM2 token is created in the data directory'),
      defaultCustody: z
        .enum(['wrapped', 'token'])
        .default('wrapped')
        .describe('custody of keys that do not specify one: wrapped in the store, or as objects in the token'),
      cacheKeys: integer(16, 10_000_000)
        .exactOptional()
        .describe(
          'loaded keys kept by each token process, four fifths of them for quick operations; an AES key takes 10 KiB with SoftHSM; default: as many as a quarter of the memory holds in all token processes together, 200,000 at most',
        ),
      jobTimeout: durationField({ minSeconds: 1, maxSeconds: 3_600 })
        .prefault('10s')
        .describe('a token operation that takes longer is aborted'),
      checkAnswers: z
        .boolean()
        .default(false)
        .describe(
          'check what a token answers before it is given out: signatures with the public key, ciphertexts by opening them, plaintexts and MACs by a second time; for hardware whose faults or enemies are near it',
        ),
      start: z
        .enum(['unattended', 'attended'])
        .default('unattended')
        .describe('attended: every start is sealed until a person gives the PIN; the configured PIN is used on the first start only'),
      embeddedPin: pin
        .exactOptional()
        .describe('PIN for the embedded token at this start, instead of a random one; with an attended start it is not kept in any file'),
    })
    .refine(({ tokens, embeddedPin }) => tokens.length === 0 || embeddedPin === undefined, 'must not have both tokens and embedded-pin')
    .prefault({}),
};

const core = z.strictObject(coreFields);

/** A token with the sessions that each worker may open. */
function withSessionsOf<Token extends { maxSessions?: number }>(one: Token, workers: number): Token {
  return one.maxSessions === undefined ? one : { ...one, maxSessions: Math.max(2, Math.floor(one.maxSessions / workers)) };
}

/** Completes parsed fields: paths become absolute, addresses that were not given are determined. */
export function completed(
  fields: z.output<typeof core>,
  plugins: Readonly<Record<string, unknown>>,
  sources: Configuration['sources'],
): Configuration {
  const { hsm, audit, data, proxies, certificateListen, ...rest } = fields;
  const { member } = fields.cluster ?? {};
  const named =
    fields.hosts ??
    hostsOfMachine(
      [fields.listen, fields.estListen, ...(certificateListen === undefined ? [] : [certificateListen])].map(({ host }) => host),
    );
  // An invited appliance reaches this one directly, past any proxy.
  const more = [...(member === undefined ? [] : [member.address]), ...fields.certificateHosts.filter((host) => host !== '*')];
  const hosts = [...named, ...more.filter((host) => !named.includes(host))];
  // A member is configured with an address that the others reach; the name of a machine is often known only to itself.
  const reached = fields.hosts?.[0] ?? member?.address ?? hosts[0] ?? 'localhost';
  const front = proxies.proxyProtocol.length + proxies.forwarded.length === 0 ? {} : { proxies };
  const publicHost = isWildcard(fields.listen.host) ? reached : fields.listen.host;
  const publicUrl = fields.publicUrl ?? urlOf(publicHost, fields.listen.port);
  const ownHost = isWildcard(fields.listen.host) ? (member?.address ?? reached) : fields.listen.host;
  // A listener that only this machine reaches is reached through its proxy.
  const ownUrl = /^127\.|^::1$|^localhost$/.test(ownHost) ? publicUrl : urlOf(ownHost, fields.listen.port);
  const listeners = 2 + listenersOf(plugins);
  const connections = Math.min(connectionsByMemory(fields.workers, listeners), connectionsThatFit(openFileLimit(), listeners));
  return {
    ...rest,
    sources,
    listen: { ...fields.listen, ...front, connections },
    estListen: { ...fields.estListen, ...front, connections },
    ...(certificateListen === undefined ? {} : { certificateListen: { ...certificateListen, ...front, connections } }),
    data: resolve(data),
    hosts,
    publicUrl,
    publicUrlIsOwn: fields.publicUrl === undefined,
    ownUrl,
    audit: { maxFileBytes: audit.maxFileBytes, retainFiles: audit.retainFiles, signEverySeconds: audit.signEvery.seconds },
    attended: hsm.start === 'attended',
    ...defined({ embeddedPin: hsm.embeddedPin }),
    hsm: {
      tokens: hsm.tokens.map((one) => withSessionsOf(one, fields.workers)),
      ...{ defaultCustody: hsm.defaultCustody, jobTimeoutSeconds: hsm.jobTimeout.seconds },
      checkAnswers: hsm.checkAnswers,
      cacheKeys: hsm.cacheKeys ?? keysThatFit(fields.workers * Math.max(1, hsm.tokens.length)),
    },
    plugins,
  };
}

/** Number of listeners that the sections of plugins configure: their addresses. */
function listenersOf(plugins: Readonly<Record<string, unknown>>): number {
  const isAddress = (value: unknown): boolean => typeof value === 'object' && value !== null && 'host' in value && 'port' in value;
  return Object.values(plugins).flatMap((section) => Object.values(section ?? {}).filter(isAddress)).length;
}

function urlOf(host: string, port: number): string {
  return `https://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

function hostsOfMachine(listening: readonly string[]): string[] {
  const everywhere = listening.some(isWildcard);
  const addresses = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  return [
    ...new Set([
      ...(dnsName.test(hostname()) ? [hostname().toLowerCase()] : []),
      'localhost',
      '127.0.0.1',
      ...listening.filter((host) => !isWildcard(host)),
      // Link-local addresses need a zone, which a certificate cannot contain.
      ...(everywhere
        ? addresses.filter(({ internal, address }) => !internal && !/^fe80:/i.test(address)).map(({ address }) => address)
        : []),
    ]),
  ];
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}
