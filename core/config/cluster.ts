// The section `cluster`: the etcd that the appliances share, and the identity of this appliance.
import { isIP } from 'node:net';
import { z } from 'zod';
import type { Duration } from '../base/time.ts';
import { durationField, integer, nameField } from '../wire/fields.ts';
import { serverUrl } from './other-servers.ts';

/** An external etcd. */
export type OutsideEtcd = {
  /** `https://HOST:PORT` of the members of etcd, the nearest first */
  readonly endpoints: readonly string[];
  /** PEM files: the authorities of etcd, and the certificate of this appliance with its key */
  readonly caFile: string;
  readonly certificateFile: string;
  readonly keyFile: string;
};

/** The member of etcd that this appliance runs itself. */
export type MemberConfig = {
  /** IP address where the other appliances reach it */
  readonly address: string;
  readonly clientPort: number;
  readonly peerPort: number;
  /** on loopback; absent: etcd gives no metrics */
  readonly metricsPort?: number;
  /** path of etcd */
  readonly program: string;
  /** invitation with which an appliance with an empty data directory joins */
  readonly invitationFile?: string;
};

export type ClusterConfig = {
  /** of this appliance, for people */
  readonly name: string;
  /** exactly one of `outside` and `member` is present */
  readonly outside?: OutsideEtcd;
  readonly member?: MemberConfig;
  /** time for which keys stay usable while this appliance is cut off from the majority; 0: not at all */
  readonly isolatedUsesFor: Duration;
};

const endpoint = serverUrl(['https'], 'certificate-file and key-file')
  .regex(/^https:\/\/(?:\[[^\]/?]+\]|[^:/?]+):\d{1,5}\/?$/i, 'must be https://HOST:PORT, for example https://etcd-1.example:2379')
  .transform((url) => url.replace(/\/$/, ''));

const file = (what: string) => z.string().min(1).describe(what);

const port = (standard: number) => integer(1, 65_535).default(standard);

const member = z.strictObject({
  address: z
    .string()
    .refine((text) => isIP(text) !== 0, 'must be an IP address of this machine that the other appliances reach')
    .describe('IP address of this machine where the members of etcd reach each other; a network of their own is best'),
  clientPort: port(2379).describe('port of its etcd for the appliances'),
  peerPort: port(2380).describe('port of its etcd for the other members'),
  metricsPort: integer(1, 65_535).exactOptional().describe('port on 127.0.0.1 where its etcd gives metrics for Prometheus; default: none'),
  program: z.string().min(1).default('/usr/lib/keystored/etcd').describe('path of etcd, 3.6.14 or later'),
  invitationFile: z
    .string()
    .min(1)
    .exactOptional()
    .describe('file with the invitation of a member, for the first start with an empty data directory; not read afterwards'),
});

const outsideFields = ['endpoints', 'caFile', 'certificateFile', 'keyFile'] as const;

/** Checks the section; the start checks that the files can be read. */
export const clusterSection = z
  .strictObject({
    name: nameField().max(48).describe('name of this appliance, which no other of the cluster has: in messages, metrics and audit trails'),
    member: member.exactOptional(),
    endpoints: z
      .array(endpoint)
      .min(1)
      .max(16)
      .refine((urls) => new Set(urls).size === urls.length, 'must not have the same member twice')
      .exactOptional()
      .describe('for an external etcd, instead of member: client URLs of its members, the nearest first'),
    caFile: file('PEM file of the CA certificates that alone may have issued the certificates of that etcd').exactOptional(),
    certificateFile: file('PEM file of the certificate of this appliance for that etcd, with its chain').exactOptional(),
    keyFile: file('PEM file of the key of that certificate; mode 0600').exactOptional(),
    isolatedUsesFor: durationField({ maxSeconds: 31 * 86_400 })
      .prefault('0s')
      .describe(
        'how long keys are used from the last state when this appliance is cut off from the majority: what others revoke meanwhile it does not know; 0s: it refuses everything',
      ),
    preview: z
      .boolean()
      .exactOptional()
      .describe('has no effect; asked for by versions in which clusters were a preview, so their files are still read'),
  })
  .transform(({ member: own, endpoints, caFile, certificateFile, keyFile, preview: _preview, ...common }, context): ClusterConfig => {
    const outside = { endpoints, caFile, certificateFile, keyFile };
    const missing = outsideFields.filter((field) => outside[field] === undefined);
    if (own !== undefined && missing.length === outsideFields.length) return { ...common, member: own };
    if (own === undefined && missing.length === 0) return { ...common, outside: outside as OutsideEtcd };
    if (own === undefined && missing.length < outsideFields.length)
      for (const field of missing) context.addIssue({ code: 'invalid_type', expected: 'string', input: undefined, path: [field] });
    else context.addIssue('must have either member, or endpoints, ca-file, certificate-file and key-file');
    return z.NEVER;
  });
