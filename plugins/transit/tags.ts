// The groups of operations of this plugin in the API description.
export const transitKeysTag = {
  name: 'transit-keys',
  description: 'Keys for encryption and signatures, with their versions and rules.',
} as const;
export const keyActionsTag = {
  name: 'key-actions',
  description:
    'What a transit key does: encrypt, decrypt, sign, verify, one at a time or in batches; and versions, export, import and backup of keys.',
} as const;
