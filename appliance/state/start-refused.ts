// The error that ends a start: one line for the terminal with cause and fix.

/** Thrown while starting: the message is printed unchanged and the process exits with 1. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused';
}

/** Whether a start was refused because of the cluster: messages begin with the section of the configuration that they are about. */
export function isAboutCluster(error: unknown): boolean {
  return error instanceof StartRefused && error.message.startsWith('cluster: ');
}
