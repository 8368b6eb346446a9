// The section `cluster`: which etcd the appliances share, and who this appliance is among them.
import { z } from 'zod';
import type { Duration } from '../base/time.ts';
import { durationField, nameField } from '../wire/fields.ts';
import { serverUrl } from './other-servers.ts';

export type ClusterConfig = {
  /** of this appliance, for people */
  readonly name: string;
  /** `https://HOST:PORT` of the members of etcd, the nearest first */
  readonly endpoints: readonly string[];
  /** PEM files: the authorities of etcd, and the certificate of this appliance with its key */
  readonly caFile: string;
  readonly certificateFile: string;
  readonly keyFile: string;
  /** how long uses of keys go on when this appliance is cut off from the majority; 0: not at all */
  readonly isolatedUsesFor: Duration;
  /** the administrator knows which promises of a cluster this version does not keep */
  readonly preview: boolean;
};

const endpoint = serverUrl(['https'], 'certificate-file and key-file')
  .regex(/^https:\/\/(?:\[[^\]/?]+\]|[^:/?]+):\d{1,5}\/?$/i, 'must be https://HOST:PORT, for example https://etcd-1.example:2379')
  .transform((url) => url.replace(/\/$/, ''));

const file = (what: string) => z.string().min(1).describe(what);

/** Whether the files can be read is checked by the start. */
export const clusterSection = z.strictObject({
  name: nameField().max(48).describe('name of this appliance, which no other of the cluster has: in messages, metrics and audit trails'),
  endpoints: z
    .array(endpoint)
    .min(1)
    .max(16)
    .refine((urls) => new Set(urls).size === urls.length, 'must not have the same member twice')
    .describe('client URLs of the members of etcd, the nearest first'),
  caFile: file('PEM file of the CA certificates that alone may have issued the certificates of etcd'),
  certificateFile: file('PEM file of the certificate of this appliance for etcd, with its chain'),
  keyFile: file('PEM file of the key of that certificate; mode 0600'),
  isolatedUsesFor: durationField({ maxSeconds: 31 * 86_400 })
    .prefault('0s')
    .describe(
      'how long keys are used from the last state when this appliance is cut off from the majority: what others revoke meanwhile it does not know; 0s: it refuses everything',
    ),
  preview: z
    .boolean()
    .default(false)
    .describe(
      'true: the limits of clusters in this version, which docs/administer/cluster.md names, are known; without it the start is refused',
    ),
});
