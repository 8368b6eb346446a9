// Paths of the files and directories of the appliance, below its data directory.
import { join } from 'node:path';

/** Absolute paths, given the data directory. */
export const paths = {
  store: (data: string) => join(data, 'store'),
  audit: (data: string) => join(data, 'audit'),
  logs: (data: string) => join(data, 'logs'),
  shipping: (data: string) => join(data, 'shipping'),
  tls: (data: string) => join(data, 'tls'),
  /** while the appliance is sealed: proof that a caller may have a PIN tried */
  unsealCode: (data: string) => join(data, 'unseal-code'),
  rootToken: (data: string) => join(data, 'root-token'),
  /** Unix socket of the process that follows the shared store of a cluster */
  follower: (data: string) => join(data, 'follower.sock'),
  /** of the member of etcd that the appliance runs itself: its data, its keys, its identity */
  member: (data: string) => join(data, 'member'),
  /** exists while a recovery is half done */
  recovering: (data: string) => join(data, 'recovering.json'),
  clusterIdentity: (data: string) => join(data, 'cluster.json'),
} as const;
