// Views that are not part of the first file: they ask for much, and few come to them.
export { ExplainView } from './access/explain.tsx';
export { RevokePage } from './authorities/revoke.tsx';
export { EnrolPage } from './enrolment/enrol.tsx';
export { FilePage } from './files/file-page.tsx';
export { GiveAccessPage } from './giving/give-access.tsx';
export { NewApplicationPage } from './making/new-application.tsx';
export { NewAuthorityPage } from './making/new-authority.tsx';
export { NewKeyPage } from './making/new-key.tsx';
export { NewSignInPage } from './making/new-sign-in.tsx';
export { NewTenantPage } from './making/new-tenant.tsx';
export { BackupPage } from './operations/backup.tsx';
export { CeremonyPage } from './operations/ceremony.tsx';
export { ImagePage } from './operations/image.tsx';
export { PolicyEditor } from './policies/policy-editor.tsx';
