// The group of the console's own addresses.
export const consoleTag = {
  name: 'console',
  description: 'The console in the browser; its pages are not part of the description.',
} as const;
