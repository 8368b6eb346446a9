// The context that all endpoints of the plugin share.
import type { PluginContext } from '../../core/plugin/plugin.ts';
import type { CertificateAuthorities, ShownCertificate } from '../../core/plugin/services/certificate-authority.ts';
import type { Sessions } from '../../core/plugin/services/sessions.ts';
import type { Table } from '../../core/store/store.ts';
import type { RevocationLists } from './revocation-lists.ts';
import type { Responders } from './responders.ts';
import type { RoleRecord } from './role-record.ts';

export type Logins = Pick<PluginContext<unknown>, 'store' | 'clock' | 'log'> & {
  readonly accounts: Sessions;
  readonly authorities: CertificateAuthorities;
  /** [tenant uuid, role] */
  readonly roles: Table<RoleRecord>;
  /** [tenant uuid, id of a CA]: the grant that all tokens of its certificates end with */
  readonly caGrants: Table<string>;
  /** [tenant uuid, id of a CA, `certificate` or `key`, thumbprint] */
  readonly certificateGrants: Table<CertificateGrant>;
  readonly lists: RevocationLists;
  readonly responders: Responders;
};

/** Grant that the tokens of one certificate, or of all certificates of one key, end with. */
export type CertificateGrant = {
  readonly grant: string;
  /** RFC 3339 UTC with six decimals: no token names it any longer */
  readonly until: string;
  /** the certificates that were shown, to be judged again; absent unless lists or answers that are fetched tell its revocation */
  readonly shown?: ShownCertificate;
  /** of a key, further certificates that were shown, the last ones; absent for none */
  readonly alsoShown?: readonly ShownCertificate[];
};

/** Group of operations of this plugin in the API description. */
export const certificateTag = {
  name: 'certificate-logins',
  description: 'Roles by which certificates log in, and whether one would.',
} as const;
