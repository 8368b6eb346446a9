// Groups of operations of this plugin in the API description.
export const kmipTag = {
  name: 'kmip',
  description: 'Clients of KMIP, the object spaces in which they work, and what is known of their objects; never the objects themselves.',
} as const;
