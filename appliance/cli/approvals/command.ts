// approvals: what other people ask for, shown for a person who decides, and decided only after the six words were compared.
import { Option } from 'commander';
import { z } from 'zod';
import { replaceUnseen } from '../../../core/wire/unseen-text.ts';
import { Client } from '../client.ts';
import { connectionOptions, type ConnectionOptions } from '../connection-options.ts';
import { resolveConnection } from '../connection.ts';
import { commandFor } from '../terminal/command-output.ts';
import { canAsk, confirm } from '../terminal/confirm.ts';
import { CommandFailed, exitCodes, usageError } from '../terminal/failure.ts';
import { writeAll } from '../terminal/files.ts';
import type { Io } from '../terminal/io.ts';
import { runVerb } from '../commands/verbs.ts';

const person = z.object({ user: z.string(), kind: z.string(), source: z.string(), subject: z.string() });
const request = z.object({
  id: z.string(),
  state: z.string(),
  requester: person,
  'client-ip': z.string(),
  'may-decide': z.boolean(),
  method: z.string(),
  path: z.string(),
  acts: z.array(z.string()),
  parameters: z.record(z.string(), z.unknown()).optional(),
  hidden: z.boolean(),
  rules: z.array(
    z.object({
      ...{ name: z.string(), needed: z.number(), have: z.number() },
      ...{ 'groups-lacking': z.number().optional(), 'rejections-needed': z.number().optional() },
    }),
  ),
  approvals: z.array(person.extend({ time: z.string() })),
  // Absent in answers of earlier versions.
  rejections: z.array(person.extend({ time: z.string(), reason: z.string() })).default([]),
  created: z.string(),
  until: z.string(),
  digest: z.string(),
  'digest-words': z.string(),
  reason: z.string(),
});
type Shown = z.output<typeof request>;

type Options = ConnectionOptions & { readonly words?: string; readonly output?: string };

/** `approvals list | show ID | approve ID | reject ID REASON | withdraw ID`. */
export async function runApprovals(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const approvals = commandFor(io, 'keystorectl approvals').description('Requests that need the approval of other people.');
  const add = (name: string, description: string, run: (id: string, options: Options, rest: string) => Promise<void>) => {
    const command = approvals.command(name).description(description).argument('<id>', 'of the request');
    for (const option of connectionOptions()) command.addOption(option);
    command.action((id: string, ...others: unknown[]) => {
      const [reason, options] = others.length === 3 ? [String(others[0]), others[1]] : ['', others[0]];
      return run(id, { ...before, ...(options as Options) }, reason);
    });
    return command;
  };
  approvals
    .command('list')
    .description('the own requests, and those that the own login may decide; with the options of list approvals')
    .argument('[words...]')
    .helpOption(false)
    .allowUnknownOption()
    .action((rest: readonly string[]) => runVerb('list', ['approvals', ...rest], before, io));
  add('show', 'what a request does, who asks, and how far it is', (id, options) =>
    withClient(options, io, async (client) => writeAll(io, described(await read(client, id)))),
  );
  add('approve', 'agree to a request, after comparing its six words with the person who asks', (id, options) =>
    withClient(options, io, (client) => approve(client, id, options, io)),
  ).addOption(new Option('--words <WORDS>', 'the six words as the person who asks has read them out; needed where nobody can be asked'));
  add('reject', 'reject a request, which ends it unless its rules need more rejections', (id, options, reason) =>
    withClient(options, io, (client) => decide(client, id, 'reject', { reason }, io)),
  ).argument('<reason>', 'why; the person who asked sees it');
  add('withdraw', 'end your own request, or take your own approval or rejection back', (id, options) =>
    withClient(options, io, (client) => decide(client, id, 'withdraw', {}, io)),
  );
  await approvals.parseAsync([...words], { from: 'user' });
}

async function withClient(options: Options, io: Io, use: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client(await resolveConnection(options, io));
  try {
    await use(client);
  } finally {
    client.close();
  }
}

const pathOf = (id: string): string => `/v1/state/approvals/${encodeURIComponent(id)}`;

async function read(client: Client, id: string): Promise<Shown> {
  const found = request.safeParse(await client.json({ method: 'GET', path: pathOf(id) }));
  if (found.success) return found.data;
  throw new CommandFailed(exitCodes.fault, `the answer is not a request for approval: ${z.prettifyError(found.error)}`);
}

/** The digest that is sent is that of what was shown: a request that changes in between is another one. */
async function approve(client: Client, id: string, { words }: Options, io: Io): Promise<void> {
  const shown = await read(client, id);
  if (words === undefined && !canAsk(io))
    throw usageError('give --words with the six words that the person who asks has read out: nobody can be asked here');
  if (words !== undefined && normal(words) !== shown['digest-words'])
    throw new CommandFailed(exitCodes.no, `the six words of this request are others: nothing was approved\n${described(shown)}`);
  if (words === undefined) {
    io.stderr.write(described(shown));
    await confirm(`Has the person who asks read out "${shown['digest-words']}", and shall this be done?`, io);
  }
  await decide(client, id, 'approve', { digest: shown.digest }, io);
}

async function decide(client: Client, id: string, verb: string, body: object, io: Io): Promise<void> {
  const answer = request.parse(await client.json({ method: 'POST', path: `${pathOf(id)}/${verb}`, body }));
  await writeAll(io, `${stateLine(answer)}\n`);
}

function normal(words: string): string {
  return words.trim().toLowerCase().split(/\s+/).join(' ');
}

const lackingText = (groups: number | undefined): string => (groups === undefined ? '' : `, ${groups} groups lacking`);

const endingText = (rejections: number | undefined): string => (rejections === undefined ? '' : `, ${rejections} rejections end it`);

function stateLine({ id, state, rules }: Shown): string {
  const counts = rules.map(
    ({ name, needed, have, 'groups-lacking': lacking, 'rejections-needed': rejections }) =>
      `${name}: ${have} of ${needed}${lackingText(lacking)}${endingText(rejections)}`,
  );
  return `${id}: ${state} (${counts.join(', ')})`;
}

/** The words of the person who asks come last, marked as such: what is done comes from the parsed request. */
function described(shown: Shown): string {
  const { requester, method, path, acts, parameters, approvals, rejections, created, until, reason } = shown;
  return [
    stateLine(shown),
    `  ${method} ${path} (${acts.join(', ')})`,
    ...(parameters === undefined ? ['  what it does is hidden from you by policies'] : Object.entries(parameters).map(parameterLine)),
    `  asked by ${personText(requester)} from ${shown['client-ip']}, ${created}; until ${until}`,
    ...approvals.map((one) => `  approved by ${personText(one)}, ${one.time}`),
    ...rejections.map((one) => `  rejected by ${personText(one)}, ${one.time}: ${JSON.stringify(one.reason)}`),
    `  words: ${shown['digest-words']}`,
    `  in the words of the person who asks: ${JSON.stringify(reason)}`,
  ]
    .map((line) => `${replaceUnseen(line, '\u{FFFD}')}\n`)
    .join('');
}

function parameterLine([name, value]: readonly [string, unknown]): string {
  const change = z.strictObject({ present: z.unknown(), wanted: z.unknown() }).safeParse(value).data;
  if (change === undefined) return `    ${name}: ${JSON.stringify(value)}`;
  return `    ${name}: ${JSON.stringify(change.present)} -> ${JSON.stringify(change.wanted)}`;
}

/** Names are not unique: issuer and subject are. */
function personText({ user, kind, source, subject }: z.output<typeof person>): string {
  return `${user} (${kind} ${subject} of ${source})`;
}
