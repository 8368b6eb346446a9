// Subjects of policy check: a token, policies, or the tokens that a login of an approle or an OIDC role would make.
import { Client } from '../client.ts';
import { connectionIn, openCatalog, runVerb } from '../commands/verbs.ts';
import type { ConnectionOptions } from '../connection-options.ts';
import { resolveConnection } from '../connection.ts';
import { helpEnd } from '../terminal/command-output.ts';
import { CommandFailed, exitCodes, usageError } from '../terminal/failure.ts';
import type { Io } from '../terminal/io.ts';
import { kindsOf } from './kinds.ts';
import { readEntry } from './plan.ts';

/** The field with the policies of tokens that a login makes. */
const grants = 'token-policies';

/** `policy check PATH OPERATION [--as RESOURCE NAMES…]`; everything else is that of `do policy`. */
export async function runPolicy(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const at = words.indexOf('--as');
  if (words.includes('--help') || words.includes('-h'))
    io.stdout.write(
      helpEnd('--as RESOURCE NAMES… asks for a login of this entry: --as approles shop, --as oidc-roles work admins\n\n', io),
    );
  if (at < 0) return runVerb('do', ['policy', ...words], before, io);
  const length = words.slice(at + 1).findIndex((word) => word.startsWith('-'));
  const end = length < 0 ? words.length : at + 1 + length;
  const [resource, ...names] = words.slice(at + 1, end);
  const others = words.toSpliced(at, end - at);
  const policies = await policiesOf(resource, names, { ...before, ...connectionIn(others) }, io);
  await runVerb('do', ['policy', ...others, '--policies', JSON.stringify(policies)], before, io);
}

/** Throws a usage error for a resource whose entries cannot log in, CommandFailed if the entry does not exist. */
async function policiesOf(
  resource: string | undefined,
  names: readonly string[],
  options: ConnectionOptions,
  io: Io,
): Promise<readonly string[]> {
  const kinds = kindsOf(await openCatalog([], options, io, false)).filter(({ fields }) => fields.some(({ path }) => path === grants));
  const kind = kinds.find((one) => one.resource === resource);
  const known = kinds.map((one) => [one.resource, ...one.show.names.map((name) => `<${name}>`)].join(' ')).join(', ');
  if (kind === undefined || names.length !== kind.show.names.length)
    throw usageError(`--as takes an entry that one logs in with: ${known}`);
  const client = new Client(await resolveConnection(options, io));
  try {
    const found = await readEntry(kind, names, client);
    if (found === undefined) throw new CommandFailed(exitCodes.notFound, `there is no ${resource} ${names.join(' ')}`);
    return (found.document[grants] ?? []) as readonly string[];
  } finally {
    client.close();
  }
}
