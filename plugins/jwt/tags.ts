// The group of operations of this plugin in the API description.
export const jwtTag = {
  name: 'jwt',
  description: 'Issuers of signed identities of workloads, the roles that these get, and what a login would find.',
} as const;
