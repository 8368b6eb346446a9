// The groups of operations of this plugin in the API description.
export const oidcTag = {
  name: 'oidc',
  description: 'Identity providers, the roles that their claims give, and what a login would find.',
} as const;
export const pagesTag = { name: 'sign-in-pages', description: 'Pages for people; they are not part of the description.' } as const;
