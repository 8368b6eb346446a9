// The group of operations of this plugin in the API description.
export const caTag = {
  name: 'tls-authorities',
  description: 'TLS certificate authorities: issuing, revocation, renewal, and what devices and relying parties fetch.',
} as const;
