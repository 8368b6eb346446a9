// The settings of an appliance: schema of keystored.json on a medium labelled KEYSTORED.
import { isIP } from 'node:net';
import { z } from 'zod';
import { cidrsField } from '../../../../core/base/addresses.ts';
import { ServiceError } from '../../../../core/base/errors.ts';
import { nameField } from '../../../../core/wire/fields.ts';
import { parseJsonObject } from '../../../../core/wire/json.ts';
import { parseInput } from '../../../../core/wire/schema.ts';

const dnsName = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
const isHost = (text: string): boolean => isIP(text) !== 0 || dnsName.test(text);

const address = z
  .string()
  .max(64)
  .refine((text) => isIP(text) !== 0 && !text.includes('%'), 'must be an IP address');
const host = z.string().max(253).refine(isHost, 'must be a host name in lower case or an IP address');

/** `192.0.2.10/24`: an address of the appliance, with the prefix of its network. */
const ownAddress = z
  .string()
  .max(64)
  .refine((text) => {
    const [ip = '', prefix = '', ...more] = text.split('/');
    const most = { 0: 0, 4: 32, 6: 128 }[isIP(ip)] ?? 0;
    return more.length === 0 && !ip.includes('%') && /^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= most;
  }, 'must be an address with its prefix, such as 192.0.2.10/24');

const networkInterface = z
  .strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z0-9_.*-]{1,15}$/, 'must be the name of an interface such as enp1s0; * stands for any characters')
      .exactOptional(),
    mac: z
      .string()
      .regex(/^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/i, 'must be a hardware address such as 52:54:00:12:34:56')
      .exactOptional(),
    dhcp: z.boolean().default(false),
    addresses: z.array(ownAddress).max(16).default([]),
    gateways: z.array(address).max(4).default([]),
    dns: z.array(address).max(8).default([]),
  })
  .refine(({ name, mac }) => (name === undefined) !== (mac === undefined), 'must have exactly one of name and mac')
  .refine(({ dhcp, addresses }) => dhcp || addresses.length > 0, 'must have addresses, or "dhcp": true');

const everywhere = ['0.0.0.0/0', '::/0'];

const token = z
  .strictObject({
    module: z.string().regex(/^\/usr\/lib\/[\w./+-]+\.so[\w.]*$/, 'must be the path of a module of the image, below /usr/lib'),
    label: z.string().min(1).max(32).exactOptional(),
    serial: z.string().min(1).max(32).exactOptional(),
    pin: z.string().min(1).max(256).exactOptional(),
  })
  .refine(({ label, serial }) => (label === undefined) !== (serial === undefined), 'must have exactly one of label and serial');

/** A file beside keystored.json. */
const fileOfMedium = z.string().regex(/^(?!\.)[\w.+-]{1,128}$/, 'must be the name of a file on the medium, without a folder');

const restore = z
  .strictObject({
    file: fileOfMedium.default('keystored.backup'),
    passphrase: z
      .string()
      .min(1)
      .max(1024)
      .regex(/^[^\r\n]*$/, 'must be one line')
      .exactOptional(),
    identity: z
      .string()
      .regex(/^AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{1,4096}$/, 'must be an age identity: AGE-SECRET-KEY-1… or AGE-SECRET-KEY-PQ-1…')
      .exactOptional(),
    auditKeys: fileOfMedium.exactOptional(),
  })
  .refine(
    ({ passphrase, identity }) => (passphrase === undefined) !== (identity === undefined),
    'must have exactly one of passphrase and identity',
  );

/**
 * An address for all appliances of a network: one that serves has it. `peers` may name this appliance as well, so that all have the same.
 */
const sharedAddress = z.strictObject({
  address: ownAddress,
  peers: z.array(address).min(1).max(16),
  routerId: z.int().min(1).max(255).default(46),
});

/** The section of the same name of the daemon, as far as an appliance decides on it; the file with an invitation is on the medium. */
const cluster = z
  .strictObject({
    name: nameField().max(48),
    address,
    /** of versions in which clusters were a preview: has no effect */
    preview: z.boolean().exactOptional(),
    invitation: fileOfMedium.exactOptional(),
    sharedAddress: sharedAddress.exactOptional(),
  })
  .refine(({ address: own, sharedAddress: shared }) => shared === undefined || areOfOneFamily(own, shared), {
    path: ['sharedAddress'],
    error: 'must be of the same family as "address" and all peers: IPv4 or IPv6',
  })
  .refine(({ address: own, sharedAddress: shared }) => shared?.peers.every((peer) => peer === own) !== true, {
    path: ['sharedAddress', 'peers'],
    error: 'must name the other appliances',
  })
  .refine(({ address: own, sharedAddress: shared }) => shared === undefined || ![own, ...shared.peers].includes(ipOf(shared.address)), {
    path: ['sharedAddress', 'address'],
    error: 'must be none of the addresses of the appliances themselves',
  });

function areOfOneFamily(own: string, { address: shared, peers }: z.output<typeof sharedAddress>): boolean {
  return new Set([own, ipOf(shared), ...peers].map((one) => isIP(one))).size === 1;
}

/** `192.0.2.10` of `192.0.2.10/24` */
function ipOf(withPrefix: string): string {
  return withPrefix.split('/')[0] ?? '';
}

const schema = z
  .strictObject({
    hostname: z.string().regex(dnsName, 'must be a host name in lower case').exactOptional(),
    interfaces: z.array(networkInterface).min(1).max(16).exactOptional(),
    ntp: z.array(host).max(8).default([]),
    allow: z
      .strictObject({
        management: cidrsField().default(everywhere),
        est: cidrsField().default(everywhere),
        enrolment: cidrsField().default(everywhere),
        kmip: cidrsField().default(everywhere),
        cluster: cidrsField().default(everywhere),
      })
      .prefault({}),
    /** enrolment protocols beside EST; `plain`: also over HTTP without TLS */
    enrolment: z.strictObject({ plain: z.boolean().default(false) }).exactOptional(),
    /** the port of KMIP; `certificate: rsa` for storage arrays whose TLS knows RSA suites only */
    kmip: z.strictObject({ certificate: z.enum(['ecdsa', 'rsa']).default('ecdsa') }).exactOptional(),
    hosts: z.array(host).min(1).max(64).exactOptional(),
    token: token.exactOptional(),
    cluster: cluster.exactOptional(),
    factoryReset: z
      .string()
      .regex(/^[0-9A-F]{2}(?::[0-9A-F]{2}){31}$/, 'must be the CA fingerprint as the screen shows it')
      .exactOptional(),
    start: z.enum(['unattended', 'attended']).default('unattended'),
    /** of the embedded token, chosen by a person */
    pin: z.string().min(4).max(255).exactOptional(),
    /** a backup on the same medium, with which a new appliance begins */
    restore: restore.exactOptional(),
  })
  .refine(({ token: own, start }) => own === undefined || own.pin !== undefined || start === 'attended', {
    path: ['token', 'pin'],
    error: 'must be given, unless the start is attended',
  })
  .refine(({ token: own, pin }) => own === undefined || pin === undefined, {
    path: ['pin'],
    error: 'is of the embedded token: that of your own goes into "token"',
  })
  .refine(({ hosts, cluster: own }) => own?.sharedAddress === undefined || hosts?.includes(ipOf(own.sharedAddress.address)) === true, {
    path: ['hosts'],
    error: 'must name the shared address: clients would refuse the certificates',
  });

export type Settings = z.output<typeof schema>;

/** The default settings: DHCP, open to every network, embedded token. */
export const defaultSettings: Settings = schema.parse({});

/** Invalid settings; the message is one line for the screen, without any value of the settings. */
export class SettingsError extends Error {}

/** Reads a keystored.json. Names are in kebab-case there. Throws SettingsError. */
export function parseSettings(file: Uint8Array): Settings {
  try {
    return parseInput(schema, parseJsonObject(file));
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.code === 'invalid-json') throw new SettingsError('must be one JSON object in UTF-8 in which no name is repeated');
    const [first] = error.details.items ?? [];
    // The message is a sentence that begins with the field; here it is part of another one.
    throw new SettingsError((first?.message ?? error.message).replace(/\.$/, ''));
  }
}
