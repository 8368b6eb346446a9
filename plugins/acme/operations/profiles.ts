// The table of profiles (draft-ietf-acme-profiles): usages of a certificate. Names, life and everything else are the rules of the CA.
export type Profile = { readonly title: string; readonly purposes: readonly ('clientAuth' | 'serverAuth')[] };

export const profiles: Readonly<Record<string, Profile>> = {
  server: { title: 'Certificates of TLS servers', purposes: ['serverAuth'] },
  'server-and-client': { title: 'Certificates of TLS servers that are clients as well', purposes: ['clientAuth', 'serverAuth'] },
};

/** The profile of an order that names none. */
export const defaultProfile = 'server';
