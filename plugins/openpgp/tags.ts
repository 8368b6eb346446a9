// The group of operations of this plugin in the API description.
export const openpgpTag = { name: 'openpgp', description: 'OpenPGP signatures, certificates and key blocks of transit keys.' } as const;
