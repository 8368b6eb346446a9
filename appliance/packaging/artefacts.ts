// Artefacts for those who install keystored.

/** Artefacts by the word of `npm run build`: whether only root can build one, and its folder below `dist`. */
export const artefacts: ReadonlyMap<string, { readonly asRoot: boolean; readonly folder: string }> = new Map([
  ['package', { asRoot: false, folder: '' }],
  ['etcd', { asRoot: false, folder: '' }],
  ['keystorectl', { asRoot: false, folder: 'keystorectl' }],
  ['oci', { asRoot: true, folder: '' }],
  ['image', { asRoot: true, folder: 'image-vm' }],
]);
