// The error that ends a start: one line for the terminal with cause and fix.

/** Thrown while starting: the message is printed unchanged and the process exits with 1. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused';
}

/** Whether a start was refused because of the cluster: messages begin with the section of the configuration that they are about. */
export function isAboutCluster(error: unknown): boolean {
  return error instanceof StartRefused && error.message.startsWith('cluster: ');
}

/** What helps against an error of the disk, by its code. */
const diskRemedies: Readonly<Record<string, string>> = {
  ENOSPC: 'make room',
  EDQUOT: 'make room',
  EROFS: 'mount its file system so that it can be written',
  EMFILE: 'allow this user more open files',
  ENFILE: 'allow this machine more open files',
  EACCES: 'give its files to the user of the service',
  EPERM: 'give its files to the user of the service',
};

/** Calls that are about the network and processes. */
const elsewhere = /^(?:listen|bind|connect|getaddrinfo|kill|spawn)/;

/** An error of the operating system on a file, as the refusal of a start; undefined for any other error. */
export function diskRefusal(error: unknown, directory: string): StartRefused | undefined {
  const { code, syscall, message } = error as Partial<NodeJS.ErrnoException>;
  if (!(error instanceof Error) || code === undefined || syscall === undefined || elsewhere.test(syscall)) return undefined;
  const remedy = diskRemedies[code] ?? 'examine the disk and the messages of the kernel';
  return new StartRefused(`the disk of ${directory} did not do what the start needs (${message}): ${remedy}, then start again`, {
    cause: error,
  });
}
