// What is built for those who install keystored.

/** By the word of `npm run build`: whether only root can build it, and the folder below `dist` in which it is then. */
export const artefacts: ReadonlyMap<string, { readonly asRoot: boolean; readonly folder: string }> = new Map([
  ['package', { asRoot: false, folder: '' }],
  ['etcd', { asRoot: false, folder: '' }],
  ['keystorectl', { asRoot: false, folder: 'keystorectl' }],
  ['oci', { asRoot: true, folder: '' }],
  ['image', { asRoot: true, folder: 'image-vm' }],
]);
