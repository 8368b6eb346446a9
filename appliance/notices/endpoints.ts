// /v1/state/notices: what needs a person, for each caller; and the channels by which it is sent, for the system tenant.
import { z } from 'zod';
import type { Notice } from '../../core/base/context.ts';
import { defined } from '../../core/base/defined.ts';
import { fail, reasonOf } from '../../core/base/errors.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import { randomUUID } from 'node:crypto';
import { systemTenantName } from '../../core/access/tenants.ts';
import { type AnyEndpoint, defineEndpoint, type EndpointCall } from '../../core/http/endpoint.ts';
import { answerList, listOf } from '../../core/http/resource/list-answer.ts';
import { listQuery } from '../../core/http/resource/list-query.ts';
import { tags } from '../../core/http/tags.ts';
import { timestampText } from '../../core/wire/fields.ts';
import { messageOf } from './message.ts';
import { type Channel, noticesOfMachine, type NoticesParts, waitingFor } from './notices.ts';
import { channelNames, deliveriesOf, sinceOf } from './records.ts';

const notice = z.object({
  name: z.string().meta({ description: 'The same as long as it lasts.', example: 'backup-missing' }),
  text: z.string().meta({ description: 'What it is, in one sentence.', example: 'No backup was made yet, and none is scheduled' }),
  path: z.string().meta({ description: 'Path in the API of what it is about.', example: '/v1/state/system/backup-status' }),
  filter: z
    .record(z.string(), z.string())
    .optional()
    .meta({ description: 'Filter under which the list at `path` has what it is about.', example: { attention: 'true' } }),
  since: timestampText().optional().describe('Since when, where a channel sends messages; otherwise nobody has noted it.'),
});

const channelState = z.object({
  name: z.enum(channelNames).meta({ typeName: 'NoticeChannelName' }).describe('How the messages are sent.'),
  to: z.array(z.string()).meta({ description: 'Addresses, or the host, that receive them.', example: ['operators@example.org'] }),
  waiting: z.int().describe('Messages that wait.'),
  lastSentAt: timestampText().optional().describe('When the last one was taken.'),
  failuresInARow: z.int().describe('How many failed since then.'),
  lastFailureAt: timestampText().optional().describe('When the last failure was.'),
  lastFailure: z.string().optional().meta({ description: 'What it was.', example: 'the receiver answers HTTP 500' }),
  nextAt: timestampText().optional().describe('When it is tried again.'),
  refusedReceivers: z
    .array(z.string())
    .optional()
    .meta({ description: 'Addresses that the server refused of the message that it took last.', example: ['left@example.org'] }),
  lastGivenUp: z
    .object({
      at: timestampText().describe('When it was given up.'),
      tenant: z.string().meta({ description: 'Tenant that it was about.', example: 'system' }),
      notice: z.string().meta({ description: 'Name of what it was about.', example: 'backup-missing' }),
      reason: z.string().meta({ description: 'Why the server refused it.', example: 'the receiver answers HTTP 422' }),
    })
    .optional()
    .describe('The last message that was given up, as the server refused it every time and took others.'),
});

type ChannelState = z.output<typeof channelState>;

const testResult = z.object({
  accepted: z.boolean().meta({ description: '`true` if the server took the message.', example: true }),
  answer: z.string().optional().meta({ description: 'What to mend.', example: 'the receiver answers HTTP 500' }),
});

export type ReachedChannel = Channel & { readonly to: readonly string[] };

const path = '/v1/state/notices';
const channelsPath = '/v1/state/system/notice-channels';
const shared = { tag: tags.system, access: 'token', errors: ['not-found'], nameField: 'name' } as const;

export function noticeEndpoints(parts: NoticesParts, channels: readonly ReachedChannel[]): AnyEndpoint[] {
  return [noticesEndpoint(parts), ...channelEndpoints(parts, channels)];
}

function noticesEndpoint(parts: NoticesParts): AnyEndpoint {
  return defineEndpoint({
    ...{ tag: tags.system, access: 'token', nameField: 'name' },
    method: 'GET',
    path,
    operation: 'read',
    named: 'Notice',
    summary: 'What needs a person',
    description:
      'In the own tenant, of what the caller may read; in the tenant `system` also about the appliance. The section `notices` of the configuration sends the same by mail and to programs.',
    audit: 'reads-go-on',
    output: z.array(notice),
    query: listQuery,
    async run(call) {
      const entries = (await noticesFor(parts, call)).map((one) => [one.name, one] as const).toSorted(([a], [b]) => (a < b ? -1 : 1));
      return answerList(call, { path, nameField: 'name' }, notice, listOf(entries), (name, one) => ({
        ...one,
        ...defined({ since: sinceOf(parts.store, call.caller.tenantId, name) }),
      }));
    },
  });
}

/** Refused with 404 for every tenant but `system`. */
function channelEndpoints(parts: NoticesParts, channels: readonly ReachedChannel[]): AnyEndpoint[] {
  const names = { channel: { description: 'Name of the channel.', example: 'mail' } };
  const find = ({ params }: EndpointCall): ReachedChannel => {
    const channel = channels.find(({ name }) => name === params['channel']);
    if (channel === undefined) throw fail('not-found');
    return channel;
  };
  const state = ({ name, to }: ReachedChannel): ChannelState => ({
    ...channelState.omit({ name: true, to: true, waiting: true }).parse(deliveriesOf(parts.store, name)),
    ...{ name, to: [...to], waiting: waitingFor(parts, name) },
  });
  return [
    defineEndpoint({
      ...shared,
      method: 'GET',
      path: channelsPath,
      operation: 'read',
      named: 'NoticeChannel',
      summary: 'The channels by which is sent what needs a person',
      description: 'They are configured in the section `notices` of the configuration.',
      audit: 'reads-go-on',
      output: z.array(channelState),
      reservedFor: 'system-tenant',
      query: listQuery,
      run: (call) =>
        answerList(
          call,
          { path: channelsPath, nameField: 'name' },
          channelState,
          listOf(channels.map((one) => [one.name, one] as const)),
          (_name, one) => state(one),
        ),
    }),
    defineEndpoint<undefined, ChannelState, ReachedChannel>({
      ...shared,
      method: 'GET',
      path: `${channelsPath}/{channel}`,
      operation: 'read',
      named: 'NoticeChannel',
      summary: 'One channel',
      description: 'As in the list of all channels.',
      audit: 'reads-go-on',
      documented: { names },
      output: channelState,
      reservedFor: 'system-tenant',
      find,
      run: (_call, _input, channel) => state(channel),
    }),
    defineEndpoint<Record<string, never>, z.output<typeof testResult>, ReachedChannel>({
      ...shared,
      method: 'POST',
      path: `${channelsPath}/{channel}/test`,
      act: 'none',
      operation: 'execute',
      named: 'NoticeTest',
      summary: 'Send a message that says it is a test',
      description: 'The answer 200 says in `accepted` if the server took it, and otherwise what to mend.',
      audit: 'required',
      documented: { names },
      input: z.object({}),
      output: testResult,
      commandLine: { verdict: 'accepted' },
      reservedFor: 'system-root',
      find,
      run: (call, _input, channel) => sendTest(parts, channel, call),
    }),
  ];
}

async function sendTest(parts: NoticesParts, channel: ReachedChannel, { caller, now }: EndpointCall): Promise<z.output<typeof testResult>> {
  const test = { name: `test ${randomUUID()}`, text: 'this is a test of the channel', path: `${channelsPath}/${channel.name}` };
  const message = messageOf('test', caller.tenantName, parts.publicUrl(), { ...test, since: formatTimestamp(now) });
  try {
    const { refusedReceivers } = await channel.send(message, AbortSignal.timeout(60_000));
    if (refusedReceivers === undefined) return { accepted: true };
    return { accepted: true, answer: `the mail server refuses some of the receivers: correct to (${refusedReceivers.join(', ')})` };
  } catch (error) {
    return { accepted: false, answer: reasonOf(error) };
  }
}

/** Those about what the caller may read. */
async function noticesFor(parts: NoticesParts, { caller, access }: EndpointCall): Promise<readonly Notice[]> {
  const { tenantId, tenantName } = caller;
  const isSystem = tenantName === systemTenantName;
  const ofAppliance = isSystem ? await noticesOfMachine(parts) : [];
  const all = [...ofAppliance, ...(await parts.running().notices({ tenantId, isSystem }, caller))];
  return all.filter((one) => access.allowsAt(one.path.slice(1).split('/').map(decodeURIComponent), 'read'));
}
