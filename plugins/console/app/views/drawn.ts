// The drawn views: what a picture says better than the page that is made from the description of a path.
import type { FunctionComponent } from 'preact';
import type { Place } from '../description/catalog.ts';
import type { DrawnProps } from '../parts/drawn-props.ts';
import { later, LaterFile } from '../parts/later.tsx';
import { AuthorityView } from './authorities/authority.tsx';
import { CertificateView } from './authorities/certificate.tsx';
import { CertificatesPage } from './authorities/certificates.tsx';
import { DevicesPage } from './devices/devices-page.tsx';
import { WaitingView } from './enrolment/waiting.tsx';
import { HierarchyView } from './authorities/hierarchy.tsx';
import { HsmPage } from './hsm/hsm.tsx';
import { BackupStatusPage } from './operations/backup-status.tsx';
import { LogPage } from './operations/log.tsx';
import { SealPage } from './operations/seal.tsx';
import { ApproleView } from './access/approle.tsx';
import { CheckView } from './access/check.tsx';
import { PolicyView } from './policies/policy.tsx';
import { TenantView } from './access/tenant.tsx';
import { TokensView } from './access/tokens.tsx';
import { ApprovalView } from './approvals/approval.tsx';
import { AuditView } from './audit/audit.tsx';
import { KeyView } from './keys/key.tsx';
import { KeysView } from './keys/keys.tsx';

const laterViews = new LaterFile(() => import('./later-views.ts'));

type DrawnView = {
  /** path of an operation as in the description, of either tree */
  readonly template: string;
  /** names in that path, where the view is of one thing alone */
  readonly names?: readonly string[];
  /** `above` the fields or rows, or in place of the page that is made from the description: of the thing itself, or of what `?do=` asks for */
  readonly shown: 'above' | 'instead' | 'create' | 'edit' | 'enrol' | 'revoke' | 'give-access' | 'certificates' | 'file' | 'ceremony';
  readonly view: FunctionComponent<DrawnProps>;
  /** names of fields that it shows, so that the page below need not */
  readonly fields?: readonly string[];
  /** templates of what it leads to, so that the page below need not */
  readonly leadsTo?: readonly string[];
};

const authority = '/v1/config/keystore/tls/ca/{name}';
const approle = '/v1/state/keystore/authentication/approles/{name}';
const requests = '/v1/state/keystore/tls/ca/{name}/enrolment-requests';
const certificates = '/v1/state/keystore/tls/ca/{name}/certificates';

/** The first that fits is shown. */
const drawnViews: readonly DrawnView[] = [
  { template: '/v1/config/keystore/transit-keys', shown: 'instead', view: KeysView },
  {
    template: '/v1/config/keystore/transit-keys/{name}',
    shown: 'above',
    view: KeyView,
    fields: ['versions', 'usage', 'rotates', 'actions', 'keys'],
  },
  { template: '/v1/config/keystore/transit-keys', shown: 'create', view: later(laterViews, 'NewKeyPage') },
  { template: '/v1/config/keystore/tls/ca', shown: 'create', view: later(laterViews, 'NewAuthorityPage') },
  { template: '/v1/config/tenants', shown: 'create', view: later(laterViews, 'NewTenantPage') },
  { template: '/v1/config/keystore/authentication/approles', shown: 'create', view: later(laterViews, 'NewApplicationPage') },
  { template: '/v1/config/keystore/authentication/oidc', shown: 'create', view: later(laterViews, 'NewSignInPage') },
  { template: '/v1/config/keystore/transit-keys/{name}', shown: 'give-access', view: later(laterViews, 'GiveAccessPage') },
  { template: '/v1/config/keystore/transit-keys/{name}', shown: 'file', view: later(laterViews, 'FilePage') },
  { template: '/v1/config/policy/policies', shown: 'create', view: later(laterViews, 'PolicyEditor') },
  { template: '/v1/config/policy/policies/{name}', shown: 'above', view: PolicyView, fields: ['rest-api', 'warnings'] },
  { template: '/v1/config/policy/policies/{name}', shown: 'edit', view: later(laterViews, 'PolicyEditor') },
  {
    template: '/v1/config/tenants/{name}',
    shown: 'above',
    view: TenantView,
    fields: ['kind', 'policies', 'uuid', 'creation-time', 'root-token-issued'],
    leadsTo: ['/v1/state/tenants/{name}/open-as'],
  },
  {
    template: '/v1/config/keystore/authentication/approles/{name}',
    shown: 'above',
    view: ApproleView,
    fields: ['role-id', 'secret-ids'],
    leadsTo: ['secret-ids', 'generate-secret-id', 'disable-secret-id'].map((one) => `${approle}/${one}`),
  },
  {
    template: '/v1/state/approvals/{id}',
    shown: 'above',
    view: ApprovalView,
    fields: ['method', 'path', 'parameters', 'reason', 'requester', 'client-ip', 'rules', 'until', 'digest', 'digest-words', 'state'],
    leadsTo: ['approve', 'reject', 'withdraw'].map((one) => `/v1/state/approvals/{id}/${one}`),
  },
  { template: '/v1/state/policy/check', shown: 'instead', view: CheckView },
  { template: '/v1/state/keystore/tokens', shown: 'instead', view: TokensView },
  { template: '/v1/state/keystore/authentication/oidc/{name}/explain', shown: 'instead', view: later(laterViews, 'ExplainView') },
  { template: '/v1/state/topics/{topic}', names: ['system:audit-trail-log'], shown: 'instead', view: AuditView },
  { template: '/v1/config/keystore/tls/ca', shown: 'above', view: HierarchyView },
  { template: '/v1/config/keystore/tls/ca', shown: 'certificates', view: DevicesPage },
  { template: authority, shown: 'above', view: AuthorityView, fields: ['ca-cert', 'chain'], leadsTo: [certificates] },
  { template: authority, shown: 'enrol', view: later(laterViews, 'EnrolPage') },
  { template: requests, shown: 'above', view: WaitingView },
  { template: certificates, shown: 'instead', view: CertificatesPage },
  { template: `${certificates}/{serial}`, shown: 'above', view: CertificateView },
  { template: `${certificates}/{serial}`, shown: 'revoke', view: later(laterViews, 'RevokePage') },
  { template: '/v1/state/system/hsm', shown: 'instead', view: HsmPage },
  { template: '/v1/state/system/backup', shown: 'instead', view: later(laterViews, 'BackupPage') },
  { template: '/v1/state/system/backup-status', shown: 'instead', view: BackupStatusPage },
  { template: '/v1/state/system/image', shown: 'instead', view: later(laterViews, 'ImagePage') },
  { template: '/v1/state/keystore/system/seal', shown: 'instead', view: SealPage },
  { template: '/v1/state/keystore/system/seal', shown: 'ceremony', view: later(laterViews, 'CeremonyPage') },
  { template: '/v1/state/topics/{topic}', names: ['system:logs'], shown: 'instead', view: LogPage },
];

/** The drawn view of a place, for where it is shown or what its address asks for. */
export function drawnAt(place: Place, shown: string): FunctionComponent<DrawnProps> | undefined {
  return find(place, shown)?.view;
}

/** Fields that the drawn view above the page of a place shows, and the operations it leads to: empty if there is no such view. */
export function drawnAbove(place: Place): Required<Pick<DrawnView, 'fields' | 'leadsTo'>> {
  const { fields = [], leadsTo = [] } = find(place, 'above') ?? {};
  return { fields, leadsTo };
}

function find({ entries, names }: Place, shown: string): DrawnView | undefined {
  return drawnViews.find(
    (view) =>
      view.shown === shown &&
      entries.some(({ path }) => path === view.template) &&
      (view.names ?? names).every((name, index) => name === names[index]),
  );
}
