// Providers that people sign in with: what each calls the parts of its address, and where its roles are.

export type Provider = {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  /** parts of the address of its metadata, as its own pages call them */
  readonly parts: readonly { readonly id: string; readonly label: string; readonly hint: string }[];
  /** address of its metadata, from the parts in their order */
  readonly discovery: (parts: readonly string[]) => string;
  readonly roleClaim: string;
  /** steps to take at the provider */
  readonly there: string;
};

const wellKnown = '.well-known/openid-configuration';

export const providers: readonly Provider[] = [
  {
    id: 'entra',
    title: 'Microsoft Entra ID',
    text: 'Accounts of Microsoft 365 and Azure.',
    parts: [{ id: 'directory', label: 'Directory (tenant) ID', hint: '8eaef023-2b34-4da1-9baa-8bc8c9d6a490' }],
    discovery: ([directory = '']) => `https://login.microsoftonline.com/${directory}/v2.0/${wellKnown}`,
    roleClaim: 'groups',
    there: 'App registrations › New registration › platform Web. Then a client secret, and the groups claim in the ID token.',
  },
  {
    id: 'keycloak',
    title: 'Keycloak',
    text: 'A realm of your own.',
    parts: [
      { id: 'host', label: 'Host', hint: 'sso.example.com' },
      { id: 'realm', label: 'Realm', hint: 'staff' },
    ],
    discovery: ([host = '', realm = '']) => `https://${host}/realms/${encodeURIComponent(realm)}/${wellKnown}`,
    roleClaim: 'groups',
    there: 'Clients › Create client, with client authentication. Then a Group Membership mapper that adds “groups” to the ID token.',
  },
  {
    id: 'google',
    title: 'Google',
    text: 'Accounts of a Workspace domain.',
    parts: [],
    discovery: () => `https://accounts.google.com/${wellKnown}`,
    roleClaim: 'hd',
    there:
      'APIs & Services › Credentials › OAuth client ID, of a web application. Google sends no groups: a role is named after your domain. For groups, write groups as the claim and fill in Google groups; the documentation says what that needs at Google.',
  },
  {
    id: 'okta',
    title: 'Okta',
    text: 'An organization at Okta.',
    parts: [{ id: 'domain', label: 'Domain', hint: 'example.okta.com' }],
    discovery: ([domain = '']) => `https://${domain}/${wellKnown}`,
    roleClaim: 'groups',
    there: 'Applications › Create App Integration › OIDC, Web Application. Then a groups claim with a filter under Sign On.',
  },
  {
    id: 'generic',
    title: 'Another provider',
    text: 'Any that speaks OpenID Connect.',
    parts: [{ id: 'issuer', label: 'Issuer', hint: 'https://sso.example.com' }],
    discovery: ([issuer = '']) => `${issuer.replace(/\/+$/, '')}/${wellKnown}`,
    roleClaim: 'groups',
    there: 'Register a client of the kind that keeps a secret, with the redirect address below.',
  },
];
